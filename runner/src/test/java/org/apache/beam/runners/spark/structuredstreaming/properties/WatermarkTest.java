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
package org.apache.beam.runners.spark.structuredstreaming.properties;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.Counters;
import org.apache.beam.runners.spark.structuredstreaming.testing.EpochLog;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.PaneInfo.Timing;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How far watermarks go, how fast they get there, and what holds them. */
class WatermarkTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir Path directory;
  private Recorder recorder;

  @BeforeEach
  void makeRecorder() {
    recorder = new Recorder(directory.resolve("recorder"));
  }

  private RestartHarness harness(Consumer<Pipeline> build) {
    return new RestartHarness(SPARK, directory.resolve("checkpoint"), build);
  }

  private static PCollection<KV<String, Iterable<String>>> grouped(PCollection<String> windowed) {
    return windowed
        .apply(WithKeys.of((String s) -> "k").withKeyType(TypeDescriptors.strings()))
        .apply(GroupByKey.create());
  }

  private static PTransform<PCollection<? extends KV<String, Iterable<String>>>, PCollection<String>>
      joined() {
    return MapElements.into(TypeDescriptors.strings())
        .via(
            (KV<String, Iterable<String>> group) ->
                Recorder.text(group.getValue()).replaceAll("[\\[\\], ]", ""));
  }

  @Test
  void aResultLeavesThreeGroupingsInTheEpochInWhichTheSourcePassesItsWindow() {
    RestartHarness.finish(
        harness(
                p -> {
                  PCollection<String> read =
                      p.apply(
                              Script.read(
                                  "chain",
                                  Script.split()
                                      .at(1, "a").watermark(1).epoch()
                                      .at(2, "b").watermark(9).epoch()
                                      .at(15, "c").watermark(20)
                                      .epochs(4).end()))
                          .apply(recorder.as("read"));
                  PCollection<String> first =
                      grouped(read.apply(PanePath.BY_WINDOW.fixedWindows(10, 0, false)))
                          .apply("join 1", joined());
                  PCollection<String> second =
                      grouped(first.apply(PanePath.BY_TIMERS.fixedWindows(10, 0, false)))
                          .apply("join 2", joined());
                  grouped(second.apply("w 3", PanePath.BY_WINDOW.fixedWindows(15, 0, false)))
                      .apply(recorder.as("result"));
                })
            .start());
    assertThat(recorder.values("result"), contains("k=[ab]", "k=[c]"));
    Recorded passing =
        recorder.seen("read").stream().filter(read -> read.value().equals("c")).findAny().orElseThrow();
    Recorded result = recorder.seen("result").get(0);
    assertThat(result.value(), is("k=[ab]"));
    assertThat(result.epoch(), is(passing.epoch()));
  }

  @Test
  void anIdleSourceHoldsWhatJoinsItToABusyOne() {
    SparkStructuredStreamingPipelineResult result =
        harness(
                p -> {
                  PCollection<String> busy =
                      p.apply(
                          "busy",
                          Script.read(
                              "busy", Script.split().at(1, "a").watermark(100).epochs(8).end()));
                  PCollection<String> idle =
                      p.apply(
                          "idle",
                          Script.read(
                              "idle", Script.split().epochs(5).at(2, "b").watermark(50).epochs(2).end()));
                  grouped(
                          PCollectionList.of(busy.apply("busy read", recorder.as("busy read")))
                              .and(idle.apply("idle read", recorder.as("idle read")))
                              .apply(Flatten.pCollections())
                              .apply(PanePath.BY_WINDOW.fixedWindows(10, 0, false)))
                      .apply(recorder.as("result"));
                })
            .runToTheEnd();
    Recorded pane = recorder.seen("result").get(0);
    assertThat(recorder.values("result"), contains("k=[a, b]"));
    assertThat(pane.epoch(), is(recorder.seen("idle read").get(0).epoch()));
    assertThat(pane.epoch(), greaterThan(recorder.seen("busy read").get(0).epoch()));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }

  /** apache/beam#19411: the watermark of a source is the least of its splits, not the greatest. */
  @Test
  void aSourceIsAsFarAsItsSlowestSplit() {
    SparkStructuredStreamingPipelineResult result =
        harness(
                p ->
                    grouped(
                            p.apply(
                                    Script.read(
                                        "slow-split",
                                        Script.split().at(50, "a").watermark(100).epochs(6).end(),
                                        Script.split().at(5, "b").watermark(5).epochs(2).at(6, "c").end()))
                                .apply(PanePath.BY_WINDOW.fixedWindows(10, 0, false)))
                        .apply(recorder.as("result")))
            .runToTheEnd();
    assertThat(
        recorder.seen("result").stream()
            .map(pane -> pane.value() + " " + pane.timing() + " to " + pane.window())
            .toList(),
        contains("k=[b, c] ON_TIME to 9999", "k=[a] ON_TIME to 59999"));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }

  private void countFive(Pipeline pipeline, String source, Script other) {
    Script five = Script.split();
    for (int i = 1; i <= 5; i++) {
      five.at(i, "e" + i);
    }
    pipeline
        .apply(Script.read(source, five.end(), other))
        .apply(PanePath.BY_WINDOW.fixedWindows(10, 0, false))
        .apply(MapElements.into(TypeDescriptors.strings()).via((String s) -> "all"))
        .apply(Count.perElement())
        .apply(recorder.as("count"));
  }

  /** apache/beam#31085, apache/beam#30969: a split that has nothing and says that it has ended. */
  @Test
  void aSplitThatNeverHasARecordAndIsAtTheEndHoldsNothing() {
    harness(p -> countFive(p, "empty-split", Script.split().end())).runToTheEnd();
    assertThat(recorder.values("count"), contains("all=5"));
  }

  /** apache/beam#31085, the other side: a split that has nothing yet may still bring anything. */
  @Test
  void aSplitThatNeverHasARecordAndDoesNotKnowItsWatermarkHoldsEverything() {
    SparkStructuredStreamingPipelineResult result =
        harness(p -> countFive(p, "silent-split", Script.split().idle())).start();
    try {
      Await.until(
          "six epochs", () -> result.progress().epoch() >= 5, () -> result.progress().epoch());
      assertThat(recorder.seen("count"), empty());
      assertThat(result.getState(), is(State.RUNNING));
    } finally {
      result.cancel();
    }
  }

  @Test
  void watermarksGoBackNeitherWithTheirSourceNorOverARestart() {
    RestartHarness harness =
        harness(
            p ->
                grouped(
                        p.apply(
                                Script.read(
                                    "regress",
                                    Script.split()
                                        .at(1, "a").watermark(30).epochs(6)
                                        .regress(5).at(25, "x").epochs(2)
                                        .at(35, "y").epoch().end()))
                            .apply(PanePath.BY_WINDOW.fixedWindows(10, 0, false)))
                    .apply(recorder.as("result")));
    try (EpochLog log = EpochLog.of(SPARK)) {
      assertThat(
          harness.runUntil("the first epoch", r -> r.progress().epoch() >= 0), is(State.CANCELLED));
      int before = log.epochs().size();
      SparkStructuredStreamingPipelineResult second = harness.runToTheEnd();

      assertThat(log.epochs().size(), greaterThan(before));
      for (String kind : List.of("inputWatermark", "outputWatermark")) {
        List<Long> watermarks = log.watermarks("GroupByKey", kind);
        assertThat(watermarks, hasSize(log.epochs().size()));
        assertThat(watermarks.get(0), is(30_000L));
        for (int i = 1; i < watermarks.size(); i++) {
          assertThat(watermarks.get(i), greaterThanOrEqualTo(watermarks.get(i - 1)));
        }
      }
      assertThat(Counters.droppedDueToLateness(second), is(1L));
    }
    assertThat(recorder.values("result"), contains("k=[a]", "k=[y]"));
  }

  /** A pane that will leave with an early timestamp keeps the watermark behind the step at it. */
  @ParameterizedTest
  @EnumSource(PanePath.class)
  void anElementThatAPaneWillBeStampedWithHoldsTheOutputWatermark(PanePath path) {
    SparkStructuredStreamingPipelineResult result =
        harness(
                p -> {
                  PCollection<String> first =
                      grouped(
                              p.apply(
                                      Script.read(
                                          "hold-" + path,
                                          Script.split()
                                              .at(1, "a").watermark(1).epoch()
                                              .at(6, "b").watermark(6).epoch()
                                              .watermark(12).epochs(2).end()))
                                  .apply(
                                      path.fixedWindows(10, 0, false)
                                          .withTimestampCombiner(TimestampCombiner.EARLIEST)))
                          .apply("join", joined());
                  grouped(first.apply("w 2", PanePath.BY_WINDOW.fixedWindows(2, 0, false)))
                      .apply(recorder.as("result"));
                })
            .runToTheEnd();
    assertThat(recorder.values("result"), contains("k=[ab]"));
    assertThat(recorder.seen("result").get(0).window(), is(1999L));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }

  /** apache/beam#28649: what a DoFn keeps until its bundle ends is ahead of the watermark. */
  @Test
  void elementsBufferedInABundleComeBeforeTheWatermarkOfTheirEpoch() {
    Script five = Script.split();
    for (int i = 1; i <= 5; i++) {
      five.at(i, "e" + i);
    }
    SparkStructuredStreamingPipelineResult result =
        harness(
                p ->
                    grouped(
                            p.apply(Script.read("buffered", five.end()))
                                .apply(PanePath.BY_WINDOW.fixedWindows(10, 0, false))
                                .apply(ParDo.of(new BufferFn())))
                        .apply(recorder.as("result")))
            .runToTheEnd();
    assertThat(recorder.values("result"), contains("k=[e1, e2, e3, e4, e5]"));
    assertThat(recorder.seen("result").get(0).timing(), is(Timing.ON_TIME));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }

  /** apache/spark#38405: Spark's own watermark must not drop what an upstream window gives. */
  @Test
  void whatAClosingWindowGivesIsNotLateForTheNext() {
    SparkStructuredStreamingPipelineResult result;
    try (EpochLog log = EpochLog.of(SPARK)) {
      result =
          harness(
                  p -> {
                    PCollection<KV<String, Long>> sums =
                        p.apply(
                                Script.read(
                                    "two-windows",
                                    Script.split()
                                        .at(1, "k").at(6, "k").epoch()
                                        .watermark(12).epochs(2).end()))
                            .apply(Window.into(FixedWindows.of(Duration.standardSeconds(10))))
                            .apply(
                                MapElements.into(
                                        TypeDescriptors.kvs(
                                            TypeDescriptors.strings(), TypeDescriptors.longs()))
                                    .via((String key) -> KV.of(key, 1L)))
                            .apply(Sum.longsPerKey());
                    sums.apply(recorder.as("sums"));
                    sums.apply("w 2", Window.into(FixedWindows.of(Duration.standardSeconds(5))))
                        .apply(Count.perElement())
                        .apply(recorder.as("counts"));
                  })
              .runToTheEnd();
      assertThat(
          log.epochs().stream().filter(epoch -> epoch.path("stateOperators").size() > 0).toList(),
          empty());
    }
    assertThat(recorder.values("sums"), contains("k=2"));
    assertThat(recorder.seen("sums").get(0).timestampMillis(), is(9999L));
    assertThat(recorder.values("counts"), contains("k=2=1"));
    assertThat(recorder.seen("counts").get(0).window(), is(9999L));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }

  private static final class BufferFn extends DoFn<String, String> {
    private transient List<Kept> kept;

    private record Kept(String value, Instant timestamp, BoundedWindow window) {}

    @StartBundle
    public void startBundle() {
      kept = new ArrayList<>();
    }

    @ProcessElement
    public void process(@Element String value, @Timestamp Instant timestamp, BoundedWindow window) {
      kept.add(new Kept(value, timestamp, window));
    }

    @FinishBundle
    public void finishBundle(FinishBundleContext context) {
      kept.forEach(element -> context.output(element.value, element.timestamp, element.window));
    }
  }
}
