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

import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.translate;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.beam.runners.direct.DirectRunner;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.PBegin;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;

/**
 * A global Combine with a default value, as the translation expands it, gives what it gives in
 * Beam's own expansion: both are run by Beam's reference runner and compared.
 */
class GlobalCombineTest {
  private static final Queue<String> RECORDED = new ConcurrentLinkedQueue<>();

  /** Notes each element with its timestamp and pane. */
  static final class RecordFn extends DoFn<Long, Void> {
    @ProcessElement
    public void processElement(
        @Element Long element, @Timestamp Instant timestamp, PaneInfo pane) {
      RECORDED.add(element + " at " + timestamp.getMillis() + " in " + pane);
    }
  }

  private static PTransform<PCollection<String>, PCollection<Long>> count() {
    return Combine.globally(Count.<String>combineFn());
  }

  private static List<String> run(
      PTransform<PBegin, PCollection<String>> input, boolean replaced) {
    PipelineOptions options = PipelineOptionsFactory.create();
    options.setRunner(DirectRunner.class);
    Pipeline pipeline = Pipeline.create(options);
    pipeline.apply("input", input).apply("count", count()).apply("record", ParDo.of(new RecordFn()));
    if (replaced) {
      pipeline.replaceAll(List.of(GlobalCombineOverride.OVERRIDE));
    }
    RECORDED.clear();
    pipeline.run().waitUntilFinish();
    return List.copyOf(RECORDED);
  }

  private static List<String> sameAsBeams(PTransform<PBegin, PCollection<String>> input) {
    List<String> replaced = run(input, true);
    assertThat(replaced, equalTo(run(input, false)));
    return replaced;
  }

  @Test
  void emptyInputGivesTheDefaultValueOnce() {
    assertThat(sameAsBeams(Create.empty(StringUtf8Coder.of())), hasSize(1));
    assertThat(
        sameAsBeams(TestStreams.of(TestStream.create(StringUtf8Coder.of()).advanceWatermarkToInfinity())),
        contains("0 at -9223372036854775 in " + PaneInfo.NO_FIRING));
  }

  @Test
  void elementsGiveTheirCombinationOnly() {
    assertThat(sameAsBeams(Create.of("a", "b", "c")), hasSize(1));
  }

  @Test
  void earlyPanesGiveNoDefaultValue() {
    assertThat(
        sameAsBeams(
            TestStreams.of(
                TestStream.create(StringUtf8Coder.of())
                    .advanceWatermarkTo(Instant.ofEpochMilli(0))
                    .addElements("a")
                    .advanceWatermarkTo(Instant.ofEpochMilli(10))
                    .addElements("b")
                    .advanceWatermarkTo(Instant.ofEpochMilli(20))
                    .addElements("c")
                    .advanceWatermarkToInfinity())),
        hasSize(3));
  }

  /** A TestStream in the global window that fires at every element. */
  private record TestStreams(TestStream<String> events) {
    static PTransform<PBegin, PCollection<String>> of(TestStream<String> events) {
      return new PTransform<>() {
        @Override
        public PCollection<String> expand(PBegin input) {
          return input
              .apply("events", events)
              .apply(
                  "every",
                  Window.<String>into(new GlobalWindows())
                      .triggering(Repeatedly.forever(AfterPane.elementCountAtLeast(1)))
                      .withAllowedLateness(Duration.ZERO)
                      .discardingFiredPanes());
        }
      };
    }
  }

  /** The default value would be late in a window at the beginning of time, were it not held for. */
  @Test
  void defaultValueIsNotLateInLaterWindows() {
    for (boolean replaced : new boolean[] {false, true}) {
      PipelineOptions options = PipelineOptionsFactory.create();
      options.setRunner(DirectRunner.class);
      Pipeline pipeline = Pipeline.create(options);
      pipeline
          .apply(
              "input",
              TestStreams.of(
                  TestStream.create(StringUtf8Coder.of())
                      .advanceWatermarkTo(Instant.ofEpochMilli(1000))
                      .advanceWatermarkToInfinity()))
          .apply("count", count())
          .apply(
              "rewindow",
              Window.<Long>into(FixedWindows.of(Duration.standardSeconds(1)))
                  .triggering(Repeatedly.forever(AfterPane.elementCountAtLeast(1)))
                  .withAllowedLateness(Duration.ZERO)
                  .discardingFiredPanes())
          .apply("count again", Combine.globally(Count.<Long>combineFn()).withoutDefaults())
          .apply("record", ParDo.of(new RecordFn()));
      if (replaced) {
        pipeline.replaceAll(List.of(GlobalCombineOverride.OVERRIDE));
      }
      RECORDED.clear();
      pipeline.run().waitUntilFinish();
      assertThat("replaced: " + replaced, RECORDED, hasSize(1));
    }
  }

  @Test
  void defaultValueNeedsNoFurtherLevel() {
    Pipeline pipeline = PlanTesting.pipeline();
    pipeline.apply("input", Create.of("a", "b")).apply("count", count());

    Plan plan = translate(pipeline);

    assertThat(plan.levels(), hasSize(2));
    assertThat(PlanTesting.steps(plan, CombineStep.class).get(0).lifted(), equalTo(true));
  }

  @Test
  void fanoutKeepsTheDefaultValue() {
    Pipeline pipeline = PlanTesting.pipeline();
    pipeline
        .apply("input", Create.of("a", "b"))
        .apply("count", Combine.globally(Count.<String>combineFn()).withFanout(3));

    assertThat(translate(pipeline).levels(), hasSize(3));
  }
}
