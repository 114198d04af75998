/*
 * Licensed to the Apache Software Foundation (ASF) under one
 * or more contributor license agreements.  See the NOTICE file
 * distributed with this work for additional information
 * regarding copyright ownership.  The ASF licenses this file
 * to you under the Apache License, Version 2.0 (the
 * "License"); you may not use this file except in compliance
 * with the License.  You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.apache.beam.runners.spark.structuredstreaming.translation;

import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.pipeline;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.step;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.steps;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.translate;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.instanceOf;

import java.util.List;
import org.apache.beam.runners.core.SplittableParDoViaKeyedWorkItems.ProcessFn;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.io.range.OffsetRange;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.DoFn.BoundedPerElement;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.junit.jupiter.api.Test;

/** What splittable DoFns and DoFns with stable input become. */
class SplittableTranslationTest {
  /** Has a restriction. */
  @BoundedPerElement
  static final class SplittableFn extends DoFn<String, String> {
    @GetInitialRestriction
    public OffsetRange initialRestriction() {
      return new OffsetRange(0, 1);
    }

    @ProcessElement
    public void processElement(RestrictionTracker<OffsetRange, Long> tracker) {
      while (tracker.tryClaim(0L)) {
        return;
      }
    }
  }

  /** Has a restriction, and asks for stable input. */
  @BoundedPerElement
  static final class StableSplittableFn extends DoFn<String, String> {
    @GetInitialRestriction
    public OffsetRange initialRestriction() {
      return new OffsetRange(0, 1);
    }

    @RequiresStableInput
    @ProcessElement
    public void processElement(RestrictionTracker<OffsetRange, Long> tracker) {
      while (tracker.tryClaim(0L)) {
        return;
      }
    }
  }

  /** Asks for stable input. */
  static final class StableFn extends DoFn<String, String> {
    @RequiresStableInput
    @ProcessElement
    public void processElement(@Element String element, OutputReceiver<String> output) {
      output.output(element);
    }
  }

  /** Asks for stable input and has state. */
  static final class StableStatefulFn extends DoFn<KV<String, Integer>, String> {
    @StateId("last")
    private final StateSpec<ValueState<Integer>> last = StateSpecs.value(VarIntCoder.of());

    @RequiresStableInput
    @ProcessElement
    public void processElement(
        @Element KV<String, Integer> element, @StateId("last") ValueState<Integer> state) {
      state.write(element.getValue());
    }
  }

  private static PCollection<String> words(Pipeline pipeline) {
    return pipeline.apply("words", Create.of("a", "b"));
  }

  @Test
  void aSplittableDoFnIsRunBehindAShuffleByElementAndRestriction() {
    Pipeline pipeline = pipeline();
    words(pipeline).apply("read", ParDo.of(new SplittableFn()));

    Plan plan = translate(pipeline);

    List<SplittableParDoStep> splittable = steps(plan, SplittableParDoStep.class);
    assertThat(splittable, hasSize(1));
    SplittableParDoStep step = splittable.get(0);
    assertThat(step.fullName(), containsString("read/ParMultiDo(Splittable)/ProcessKeyedElements"));
    assertThat(step.level(), equalTo(1));
    assertThat(step.elementCoder(), equalTo(StringUtf8Coder.of()));
    assertThat(step.spec().doFn(), instanceOf(ProcessFn.class));
    assertThat(step.spec().input(), equalTo(step.input()));
    assertThat(step.output().coder(), equalTo(StringUtf8Coder.of()));
    SerializableUtils.ensureSerializable(plan);
  }

  @Test
  void translatingAgainGivesTheSamePlan() {
    Pipeline pipeline = pipeline();
    words(pipeline).apply("read", ParDo.of(new SplittableFn()));

    String first = translate(pipeline).describe();

    assertThat(translate(pipeline).describe(), equalTo(first));
  }

  @Test
  void readsStayPrimitiveBesideSplittableDoFns() {
    Pipeline pipeline = pipeline();
    words(pipeline).apply("read", ParDo.of(new SplittableFn()));

    assertThat(step(translate(pipeline), "words/Read(CreateSource)"), instanceOf(ReadStep.class));
  }

  @Test
  void stableInputIsAStepOfItsOwnInFrontOfTheDoFn() {
    Pipeline pipeline = pipeline();
    words(pipeline).apply("write", ParDo.of(new StableFn()));

    Plan plan = translate(pipeline);

    StableInputStep stable = (StableInputStep) step(plan, "write/ParMultiDo(Stable)/StableInput");
    assertThat(stable.byKey(), equalTo(false));
    assertThat(stable.level(), equalTo(1));
    ParDoStep write = (ParDoStep) step(plan, "write/ParMultiDo(Stable)");
    assertThat(write.spec().input(), equalTo(stable.output()));
    assertThat(write.spec().input().coder(), equalTo(StringUtf8Coder.of()));
    SerializableUtils.ensureSerializable(plan);
  }

  @Test
  void stableInputOfAStatefulDoFnKeepsTheOrderOfEachKey() {
    Pipeline pipeline = pipeline();
    pipeline.apply("pairs", Create.of(KV.of("a", 1))).apply("write", ParDo.of(new StableStatefulFn()));

    Plan plan = translate(pipeline);

    StableInputStep stable = steps(plan, StableInputStep.class).get(0);
    assertThat(stable.byKey(), equalTo(true));
    StatefulParDoStep write = steps(plan, StatefulParDoStep.class).get(0);
    assertThat(write.input(), equalTo(stable.output()));
    assertThat(write.level(), equalTo(2));
  }

  @Test
  void stableInputOfASplittableDoFnIsThatOfItsElementsWithRestrictions() {
    Pipeline pipeline = pipeline();
    words(pipeline).apply("read", ParDo.of(new StableSplittableFn()));

    Plan plan = translate(pipeline);

    SplittableParDoStep splittable = steps(plan, SplittableParDoStep.class).get(0);
    assertThat(splittable.input(), equalTo(steps(plan, StableInputStep.class).get(0).output()));
    assertThat(splittable.level(), equalTo(2));
  }

  @Test
  void noStepIsMadeStableThatDoesNotAskForIt() {
    Pipeline pipeline = pipeline();
    pipeline.apply("pairs", Create.of(KV.of("a", 1))).apply("group", GroupByKey.create());

    assertThat(steps(translate(pipeline), StableInputStep.class), empty());
  }
}
