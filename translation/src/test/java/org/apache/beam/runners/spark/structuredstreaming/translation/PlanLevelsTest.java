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

import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.names;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.pipeline;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.step;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.translate;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.instanceOf;
import static org.hamcrest.Matchers.not;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.PassFn;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.StringsSource;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.Impulse;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.beam.sdk.values.PBegin;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.beam.sdk.values.PDone;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;

/** How steps are laid out on levels. */
class PlanLevelsTest {
  private static final String PASS = "/ParMultiDo(Pass)";

  private static PCollection<String> source(Pipeline pipeline, String name) {
    return pipeline.apply(name, Read.from(new StringsSource(false)));
  }

  private static PCollection<String> pass(PCollection<String> input, String name) {
    return input.apply(name, ParDo.of(new PassFn<>()));
  }

  private static PCollection<String> shuffle(PCollection<String> input, String name) {
    return input.apply(name, Reshuffle.viaRandomKey());
  }

  /** Checks what holds for every plan. */
  private static void assertInvariants(Plan plan) {
    assertThat(plan.levels(), not(empty()));
    for (int number = 0; number < plan.levels().size(); number++) {
      Level level = plan.levels().get(number);
      assertThat(level.number(), equalTo(number));
      Set<PlanCollection> produced = new HashSet<>();
      for (Step root : level.roots()) {
        assertThat(root, instanceOf(number == 0 ? ReadStep.class : KeyedStep.class));
        produced.addAll(root.outputs());
      }
      for (Step fused : level.fused()) {
        assertThat(fused + " on level " + number, fused.inputs().stream().anyMatch(produced::contains));
        produced.addAll(fused.outputs());
      }
      for (Edge edge : level.outgoing()) {
        assertThat(edge.fromLevel(), equalTo(number));
        assertThat(edge.collection() + " on level " + number, produced.contains(edge.collection()));
      }
      for (Edge edge : level.incoming()) {
        assertThat(level.roots(), hasItem(edge.target()));
      }
    }
    for (int index = 0; index < plan.steps().size(); index++) {
      assertThat(plan.steps().get(index).index(), equalTo(index));
    }
    for (int index = 0; index < plan.edges().size(); index++) {
      assertThat(plan.edges().get(index).index(), equalTo(index));
    }
    for (int index = 0; index < plan.sources().size(); index++) {
      assertThat(plan.sources().get(index).sourceIndex(), equalTo(index));
    }
    for (int index = 0; index < plan.collections().size(); index++) {
      assertThat(plan.collections().get(index).index(), equalTo(index));
    }
    assertThat(
        plan.steps().stream().map(Step::stableId).distinct().count(),
        equalTo((long) plan.steps().size()));
    Plan copy = SerializableUtils.ensureSerializable(plan);
    assertThat(copy.describe(), equalTo(plan.describe()));
  }

  @Test
  void leavesOfOneSourceShareItsLevel() {
    Pipeline pipeline = pipeline();
    PCollection<String> read = source(pipeline, "read");
    pass(read, "left");
    pass(pass(read, "right"), "rightmost");

    Plan plan = translate(pipeline);

    assertInvariants(plan);
    assertThat(plan.levels(), hasSize(1));
    assertThat(names(plan.levels().get(0).roots()), contains("read"));
    assertThat(
        names(plan.levels().get(0).fused()),
        contains("left" + PASS, "right" + PASS, "rightmost" + PASS));
    assertThat(plan.edges(), empty());
  }

  @Test
  void chainedShufflesStandOnALevelEach() {
    Pipeline pipeline = pipeline();
    pass(shuffle(shuffle(shuffle(source(pipeline, "read"), "a"), "b"), "c"), "leaf");

    Plan plan = translate(pipeline);

    assertInvariants(plan);
    assertThat(plan.levels(), hasSize(4));
    assertThat(names(plan.levels().get(1).roots()), contains("a"));
    assertThat(names(plan.levels().get(2).roots()), contains("b"));
    assertThat(names(plan.levels().get(3).roots()), contains("c"));
    assertThat(names(plan.levels().get(3).fused()), contains("leaf" + PASS));
    assertThat(plan.edges(), hasSize(3));
  }

  @Test
  void diamondOfAShortAndALongBranchRunsWhatFollowsOnBothLevels() {
    Pipeline pipeline = pipeline();
    PCollection<String> read = source(pipeline, "read");
    PCollection<String> shuffled = shuffle(read, "long");
    PCollection<String> joined =
        PCollectionList.of(pass(read, "short")).and(shuffled).apply("join", Flatten.pCollections());
    shuffle(pass(joined, "after"), "end");

    Plan plan = translate(pipeline);

    assertInvariants(plan);
    assertThat(plan.levels(), hasSize(3));
    assertThat(names(plan.levels().get(0).fused()), contains("short" + PASS, "join", "after" + PASS));
    assertThat(names(plan.levels().get(1).fused()), contains("join", "after" + PASS));
    KeyedStep end = (KeyedStep) step(plan, "end");
    assertThat(end.level(), equalTo(2));
    assertThat(
        plan.levels().get(2).incoming().stream().map(Edge::fromLevel).toList(), contains(0, 1));
    assertThat(plan.levels().get(0).outgoing(), hasSize(2));
  }

  @Test
  void keyedStepsBehindBranchesOfEqualLengthShareALevel() {
    Pipeline pipeline = pipeline();
    PCollection<String> read = source(pipeline, "read");
    shuffle(read, "left");
    shuffle(pass(read, "pass"), "right");

    Plan plan = translate(pipeline);

    assertInvariants(plan);
    assertThat(names(plan.levels().get(1).roots()), contains("left", "right"));
  }

  @Test
  void flattenKeepsAnInputThatIsThereTwice() {
    Pipeline pipeline = pipeline();
    PCollection<String> read = source(pipeline, "read");
    PCollection<String> twice =
        PCollectionList.of(read).and(read).apply("twice", Flatten.pCollections());
    shuffle(twice, "end");

    Plan plan = translate(pipeline);

    assertInvariants(plan);
    PlanCollection input = ((ReadStep) step(plan, "read")).output();
    assertThat(step(plan, "twice").inputs(), contains(input, input));
    assertThat(plan.edges(), hasSize(1));
  }

  @Test
  void flattenOfNothingIsAnEmptySource() {
    Pipeline pipeline = pipeline();
    PCollection<String> none =
        PCollectionList.<String>empty(pipeline)
            .apply("none", Flatten.pCollections())
            .setCoder(StringUtf8Coder.of());
    shuffle(none, "end");

    Plan plan = translate(pipeline);

    assertInvariants(plan);
    assertThat(plan.sources(), hasSize(1));
    assertThat(plan.sources().get(0).fullName(), equalTo("none"));
    assertThat(plan.sources().get(0).source(), instanceOf(EmptySource.class));
    assertThat(plan.sources().get(0).source().getOutputCoder(), equalTo(StringUtf8Coder.of()));
  }

  @Test
  void edgeIsCodedAsTheFlattenItComesFrom() {
    Pipeline pipeline = pipeline();
    PCollection<String> joined =
        PCollectionList.of(source(pipeline, "one"))
            .and(source(pipeline, "two"))
            .apply("join", Flatten.pCollections())
            .setCoder(new OtherStringCoder());
    shuffle(joined, "end");

    Plan plan = translate(pipeline);

    assertInvariants(plan);
    assertThat(plan.sources().stream().map(ReadStep::fullName).toList(), contains("one", "two"));
    assertThat(plan.edges().get(0).collection().coder(), instanceOf(OtherStringCoder.class));
  }

  @Test
  void windowsAreAssignedByAFusedStep() {
    Pipeline pipeline = pipeline();
    FixedWindows windows = FixedWindows.of(Duration.standardSeconds(10));
    shuffle(source(pipeline, "read").apply("window", Window.into(windows)), "end");

    Plan plan = translate(pipeline);

    assertInvariants(plan);
    AssignWindowsStep assign = (AssignWindowsStep) step(plan, "window/Window.Assign");
    assertThat(assign.windowFn(), equalTo(windows));
    assertThat(((KeyedStep) step(plan, "end")).windowingStrategy().getWindowFn(), equalTo(windows));
  }

  @Test
  void samePipelineHasTheSamePlanAndNamesDecideTheIds() {
    Plan first = translate(example());
    Pipeline pipeline = example();
    Plan second = translate(pipeline);
    Plan again = translate(pipeline);

    assertThat(second.describe(), equalTo(first.describe()));
    assertThat(again.describe(), equalTo(first.describe()));
    assertThat(step(first, "b").stableId(), equalTo(StableIds.of("b")));
    assertThat(
        PlanFingerprint.of(second).encode(), equalTo(PlanFingerprint.of(first).encode()));
  }

  private static Pipeline example() {
    Pipeline pipeline = pipeline();
    PCollection<String> read = source(pipeline, "read");
    PCollection<String> a = shuffle(read, "a");
    PCollectionList.of(List.of(read, a, source(pipeline, "other")))
        .apply("join", Flatten.pCollections())
        .apply("keys", WithKeys.of("key"))
        .apply("b", Reshuffle.of());
    return pipeline;
  }

  @Test
  void emptyPipelineHasOneEmptyLevel() {
    Plan plan = translate(pipeline());

    assertInvariants(plan);
    assertThat(plan.levels(), hasSize(1));
    assertThat(plan.steps(), empty());
  }

  @Test
  void compositeThatAppliesNothingIsNoStep() {
    Pipeline pipeline = pipeline();
    pipeline.apply("impulse", Impulse.create());
    pipeline.apply("nothing", new NothingTransform());

    assertThat(names(translate(pipeline).steps()), contains("impulse"));
  }

  private static final class NothingTransform extends PTransform<PBegin, PDone> {
    @Override
    public PDone expand(PBegin input) {
      return PDone.in(input.getPipeline());
    }
  }

  /** Codes strings, but is not equal to their usual coder. */
  private static final class OtherStringCoder extends CustomCoder<String> {
    @Override
    public void encode(String value, OutputStream out) throws IOException {
      StringUtf8Coder.of().encode(value, out);
    }

    @Override
    public String decode(InputStream in) throws IOException {
      return StringUtf8Coder.of().decode(in);
    }

    @Override
    public void verifyDeterministic() {}
  }
}
