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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.startsWith;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
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
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.PBegin;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TimestampedValue;
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

  /** Notes that an element has been read. */
  static final class RecordInputFn extends DoFn<String, Void> {
    @ProcessElement
    public void processElement(@Element String element) {
      RECORDED.add("read " + element);
    }
  }

  private static PTransform<PCollection<String>, PCollection<Long>> count() {
    return Combine.globally(Count.<String>combineFn());
  }

  private static List<String> run(Consumer<Pipeline> build, boolean replaced) {
    PipelineOptions options = PipelineOptionsFactory.create();
    options.setRunner(DirectRunner.class);
    Pipeline pipeline = Pipeline.create(options);
    build.accept(pipeline);
    if (replaced) {
      pipeline.replaceAll(List.of(GlobalCombineOverride.OVERRIDE));
    }
    RECORDED.clear();
    pipeline.run().waitUntilFinish();
    return List.copyOf(RECORDED);
  }

  private static List<String> sameAsBeams(Consumer<Pipeline> build) {
    List<String> replaced = run(build, true).stream().sorted().toList();
    assertThat(replaced, equalTo(run(build, false).stream().sorted().toList()));
    return replaced;
  }

  private static List<String> sameAsBeams(PTransform<PBegin, PCollection<String>> input) {
    return sameAsBeams(
        pipeline ->
            pipeline
                .apply("input", input)
                .apply("count", count())
                .apply("record", ParDo.of(new RecordFn())));
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
        everyItem(not(containsString("NO_FIRING"))));
  }

  /** A TestStream in the global window that fires at every element, with the element's timestamp. */
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
                      .withTimestampCombiner(TimestampCombiner.LATEST)
                      .withAllowedLateness(Duration.ZERO)
                      .discardingFiredPanes());
        }
      };
    }
  }

  /** The default value would be late in the window it is in, were the watermark not held for it. */
  @Test
  void watermarkIsHeldForTheDefaultValue() {
    TestStream<String> nothing =
        TestStream.create(StringUtf8Coder.of())
            .advanceWatermarkTo(Instant.ofEpochMilli(1000))
            .advanceWatermarkToInfinity();
    assertThat(sameAsBeams(pipeline -> countAgain(pipeline, nothing)), hasSize(1));
  }

  /** A later window fires as soon as the watermark has passed it, before the next element comes. */
  @Test
  void watermarkIsHeldNoLongerOnceThereIsAnElement() {
    TestStream<String> something =
        TestStream.create(StringUtf8Coder.of())
            .addElements(TimestampedValue.of("a", Instant.ofEpochMilli(500)))
            .advanceWatermarkTo(Instant.ofEpochMilli(5000))
            .addElements(TimestampedValue.of("b", Instant.ofEpochMilli(5500)))
            .advanceWatermarkToInfinity();
    for (boolean replaced : new boolean[] {false, true}) {
      List<String> recorded = run(pipeline -> countAgain(pipeline, something), replaced);
      assertThat(
          recorded.subList(0, 3),
          contains(equalTo("read a"), startsWith("1 at 500 in "), equalTo("read b")));
    }
  }

  /** Counts, and counts the counts per second. */
  private static void countAgain(Pipeline pipeline, TestStream<String> events) {
    PCollection<String> input = pipeline.apply("input", TestStreams.of(events));
    input.apply("record input", ParDo.of(new RecordInputFn()));
    input
        .apply("count", count())
        .apply(
            "rewindow",
            Window.<Long>into(FixedWindows.of(Duration.standardSeconds(1)))
                .triggering(AfterWatermark.pastEndOfWindow())
                .withAllowedLateness(Duration.ZERO)
                .discardingFiredPanes())
        .apply("count again", Combine.globally(Count.<Long>combineFn()).withoutDefaults())
        .apply("record", ParDo.of(new RecordFn()));
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
