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
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.problems;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.translate;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.endsWith;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.startsWith;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.PassFn;
import org.apache.beam.runners.spark.structuredstreaming.translation.UnsupportedPipelineException.Problem;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.windowing.AfterProcessingTime;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.Trigger;
import org.apache.beam.sdk.transforms.windowing.TriggerVisitor;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.apache.beam.sdk.values.WindowingStrategy.AccumulationMode;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;

/** What is refused, where and with which words. */
class RefusalTest {
  private static Problem only(List<Problem> problems) {
    assertThat(problems, hasSize(1));
    return problems.get(0);
  }

  private static PCollection<KV<String, String>> input(Pipeline pipeline) {
    return pipeline.apply("create", Create.of(KV.of("a", "b")));
  }

  /** Nothing but a type for the DoFns below. */
  abstract static class TestFn extends DoFn<KV<String, String>, String> {}

  /** Has a value cell. */
  static final class StateFn extends TestFn {
    @StateId("count")
    private final StateSpec<ValueState<String>> count = StateSpecs.value(StringUtf8Coder.of());

    @ProcessElement
    public void processElement(@StateId("count") ValueState<String> state) {
      state.write("");
    }
  }

  @Test
  void stateInMergingWindowsIsRefused() {
    Problem problem =
        only(
            problems(
                pipeline ->
                    input(pipeline)
                        .apply(Window.into(Sessions.withGapDuration(Duration.standardMinutes(1))))
                        .apply("bad", ParDo.of(new StateFn()))));
    assertThat(problem.transform(), equalTo("bad/ParMultiDo(State)"));
    assertThat(
        problem.reason(),
        startsWith(
            "uses state, timers or time-sorted input in the merging windows of "
                + Sessions.class.getName()));
  }

  @Test
  void sideInputThatNoTransformMakesIsRefused() {
    PCollectionView<List<String>> view =
        pipeline().apply("side", Create.of("x")).apply("view", View.asList());
    Problem problem =
        only(
            problems(
                pipeline ->
                    input(pipeline)
                        .apply(
                            "bad",
                            ParDo.of(new PassFn<KV<String, String>>()).withSideInputs(view))));

    assertThat(problem.transform(), equalTo("bad/ParMultiDo(Pass)"));
    assertThat(problem.reason(), startsWith("reads the side input "));
    assertThat(problem.reason(), endsWith(", a view that no transform of this pipeline makes"));
  }

  @Test
  void testStreamWhoseElementsItsCoderCannotEncodeIsRefused() {
    Problem problem =
        only(
            problems(
                pipeline ->
                    pipeline.apply(
                        "events",
                        TestStream.create(StringUtf8Coder.of())
                            .addElements((String) null)
                            .advanceWatermarkToInfinity())));
    assertThat(problem.transform(), equalTo("events"));
    assertThat(
        problem.reason(),
        equalTo(
            "StringUtf8Coder cannot encode the elements of the TestStream: cannot encode a null"
                + " String"));
  }

  private static Problem refusedTrigger(Trigger trigger) {
    Problem problem =
        only(
            problems(
                pipeline ->
                    input(pipeline)
                        .apply(
                            Window.<KV<String, String>>into(new GlobalWindows())
                                .triggering(trigger)
                                .withAllowedLateness(Duration.ZERO)
                                .discardingFiredPanes())
                        .apply("group", GroupByKey.create())));
    assertThat(problem.transform(), equalTo("group"));
    return problem;
  }

  @Test
  void retractingPanesAreRefused() {
    Problem problem =
        only(
            problems(
                pipeline -> {
                  PCollection<KV<String, String>> input = input(pipeline);
                  input
                      .setWindowingStrategyInternal(
                          WindowingStrategy.globalDefault()
                              .withMode(AccumulationMode.RETRACTING_FIRED_PANES))
                      .apply("group", GroupByKey.create());
                }));
    assertThat(problem.transform(), equalTo("group"));
    assertThat(
        problem.reason(), containsString("the accumulation mode RETRACTING_FIRED_PANES"));
  }

  /** A trigger that Beam does not know. */
  static final class OwnTrigger extends Trigger {
    @Override
    public Instant getWatermarkThatGuaranteesFiring(
        BoundedWindow window) {
      return window.maxTimestamp();
    }

    @Override
    protected Trigger getContinuationTrigger(List<Trigger> continuationTriggers) {
      return this;
    }

    @Override
    public boolean mayFinish() {
      return false;
    }

    @Override
    public <OutputT> OutputT accept(TriggerVisitor<OutputT> visitor) {
      throw new UnsupportedOperationException("a visitor knows Beam's triggers only");
    }
  }

  @Test
  void foreignTriggerIsRefused() {
    assertThat(
        refusedTrigger(new OwnTrigger()).reason(),
        containsString("(" + OwnTrigger.class.getName() + "), which is none of Beam's own"));
  }

  @Test
  void triggerThatNothingIsGroupedWithIsNoProblem() {
    Pipeline pipeline = PlanTesting.pipeline();
    input(pipeline)
        .apply(
            Window.<KV<String, String>>into(new GlobalWindows())
                .triggering(Repeatedly.forever(AfterProcessingTime.pastFirstElementInPane()))
                .withAllowedLateness(Duration.ZERO)
                .discardingFiredPanes());

    assertThat(translate(pipeline).levels(), hasSize(1));
  }

  /** A primitive that no runner knows. */
  private static final class UnknownTransform
      extends PTransform<PCollection<KV<String, String>>, PCollection<KV<String, String>>> {
    @Override
    public PCollection<KV<String, String>> expand(PCollection<KV<String, String>> input) {
      return PCollection.createPrimitiveOutputInternal(
          input.getPipeline(),
          WindowingStrategy.globalDefault(),
          PCollection.IsBounded.BOUNDED,
          input.getCoder());
    }
  }

  @Test
  void everyProblemIsReportedAtOnceAndNamed() {
    Pipeline pipeline = PlanTesting.pipeline();
    input(pipeline)
        .apply("unknown", new UnknownTransform())
        .apply("group", GroupByKey.create())
        .apply("ungroup", ParDo.of(new FirstFn()))
        .apply("sessions", Window.into(Sessions.withGapDuration(Duration.standardMinutes(1))))
        .apply("state", ParDo.of(new StateFn()));

    UnsupportedPipelineException refused =
        assertThrows(UnsupportedPipelineException.class, () -> translate(pipeline));

    assertThat(
        refused.problems().stream().map(Problem::transform).toList(),
        contains("unknown", "state/ParMultiDo(State)"));
    assertThat(
        refused.getMessage(),
        startsWith(
            "The pipeline cannot be run as a stream on Spark:\n  'unknown': unknown transform "
                + UnknownTransform.class.getName()
                + "\n  'state/ParMultiDo(State)': uses state"));
  }

  /** Gives the first value of each key. */
  static final class FirstFn
      extends DoFn<KV<String, Iterable<String>>, KV<String, String>> {
    @ProcessElement
    public void processElement(
        @Element KV<String, Iterable<String>> element, OutputReceiver<KV<String, String>> output) {
      output.output(KV.of(element.getKey(), element.getValue().iterator().next()));
    }
  }
}
