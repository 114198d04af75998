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
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Counters;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An epoch's elements are processed against the watermark of the epoch before, and the epoch's own
 * watermark only then; what comes behind a window's end is late, and dropped behind its expiry.
 */
class LateDataTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir Path directory;
  private Recorder recorder;

  @BeforeEach
  void makeRecorder() {
    recorder = new Recorder(directory.resolve("recorder"));
  }

  private SparkStructuredStreamingPipelineResult group(
      String name, Script script, PanePath path, long latenessSeconds, boolean accumulating) {
    return new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            p ->
                p.apply(Script.read(name, script))
                    .apply(path.fixedWindows(10, latenessSeconds, accumulating))
                    .apply(WithKeys.of((String s) -> "k").withKeyType(TypeDescriptors.strings()))
                    .apply(GroupByKey.create())
                    .apply(recorder.as("panes")))
        .runToTheEnd();
  }

  private List<String> panes() {
    return recorder.seen("panes").stream()
        .sorted(Comparator.comparing(Recorded::window).thenComparing(Recorded::paneIndex))
        .map(pane -> pane.value() + " " + pane.timing() + " " + pane.paneIndex())
        .toList();
  }

  /** {@code b} and {@code c} come in the very epoch in which the watermark passes their window. */
  private static Script lateAfterThePassingEpoch() {
    return Script.split()
        .at(1, "a").watermark(2).epoch()
        .at(5, "b").watermark(20).at(6, "c").epoch()
        .at(7, "late").watermark(21).epoch()
        .end();
  }

  @ParameterizedTest
  @EnumSource(PanePath.class)
  void elementsOfTheEpochThatPassesTheirWindowAreOnTimeAndLaterOnesDropped(PanePath path) {
    SparkStructuredStreamingPipelineResult result =
        group("dropped-" + path, lateAfterThePassingEpoch(), path, 0, false);
    assertThat(panes(), contains("k=[a, b, c] ON_TIME 0"));
    assertThat(Counters.droppedDueToLateness(result), is(1L));
  }

  @ParameterizedTest
  @EnumSource(PanePath.class)
  void withinTheAllowedLatenessLaterElementsMakeALatePane(PanePath path) {
    SparkStructuredStreamingPipelineResult result =
        group("late-" + path, lateAfterThePassingEpoch(), path, 100, false);
    assertThat(panes(), contains("k=[a, b, c] ON_TIME 0", "k=[late] LATE 1"));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }

  @Test
  void anAccumulatingLatePaneHasWhatWasBefore() {
    group("accumulating", lateAfterThePassingEpoch(), PanePath.BY_TIMERS, 100, true);
    assertThat(panes(), contains("k=[a, b, c] ON_TIME 0", "k=[a, b, c, late] LATE 1"));
  }

  @ParameterizedTest
  @EnumSource(PanePath.class)
  void behindTheAllowedLatenessElementsAreDropped(PanePath path) {
    Script script =
        Script.split()
            .at(1, "a").watermark(12).epoch()
            .at(2, "late").watermark(16).epoch()
            .at(3, "too late").watermark(17).epoch()
            .end();
    SparkStructuredStreamingPipelineResult result = group("expired-" + path, script, path, 5, false);
    assertThat(panes(), contains("k=[a] ON_TIME 0", "k=[late] LATE 1"));
    assertThat(Counters.droppedDueToLateness(result), is(1L));
  }

  /** apache/spark#56043: an element at the watermark, and one at a window's very end, are on time. */
  @ParameterizedTest
  @EnumSource(PanePath.class)
  void anElementAtTheWatermarkIsNotLate(PanePath path) {
    Script script =
        Script.split()
            .at(5, "x").watermark(5).epoch()
            .at(5, "y").watermark(9.999).epoch()
            .at(9.999, "z").watermark(9.999).epoch()
            .end();
    SparkStructuredStreamingPipelineResult result = group("equal-" + path, script, path, 0, false);
    assertThat(panes(), contains("k=[x, y, z] ON_TIME 0"));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }
}
