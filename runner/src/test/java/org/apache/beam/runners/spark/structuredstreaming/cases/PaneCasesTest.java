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
package org.apache.beam.runners.spark.structuredstreaming.cases;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Counters;
import org.apache.beam.runners.spark.structuredstreaming.testing.EpochLog;
import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which panes there are, what is in them, how they are numbered and when they leave. */
class PaneCasesTest extends PipelineCase {
  private static String numbered(Recorded pane) {
    return pane.value() + " " + pane.timing() + " " + pane.paneIndex() + "/" + pane.nonSpeculativeIndex();
  }

  private SparkStructuredStreamingPipelineResult earlyOnTimeLate(String name, boolean accumulating) {
    Script script =
        Script.split()
            .at(1, "1").at(2, "2").epoch()
            .at(3, "3").epoch()
            .watermark(15).epoch()
            .at(4, "4").epoch()
            .end();
    Window<String> windows =
        Window.<String>into(FixedWindows.of(Duration.standardSeconds(10)))
            .triggering(
                AfterWatermark.pastEndOfWindow()
                    .withEarlyFirings(AfterPane.elementCountAtLeast(2))
                    .withLateFirings(AfterPane.elementCountAtLeast(1)))
            .withAllowedLateness(Duration.standardSeconds(100));
    return run(
        p ->
            p.apply(Script.read(name, script))
                .apply(accumulating ? windows.accumulatingFiredPanes() : windows.discardingFiredPanes())
                .apply(keyed())
                .apply(GroupByKey.create())
                .apply(recorder.as("panes")));
  }

  /** apache/beam#211: no pane without content at the window's expiry, and no numbering from anew. */
  @Test
  void accumulatingPanesAreNumberedThroughAndTheirWindowExpiresInSilence() {
    SparkStructuredStreamingPipelineResult result = earlyOnTimeLate("accumulating-panes", true);
    assertThat(
        panes("panes", PaneCasesTest::numbered),
        contains(
            "k=[1, 2] EARLY 0/-1", "k=[1, 2, 3] ON_TIME 1/0", "k=[1, 2, 3, 4] LATE 2/1"));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }

  /** apache/beam#211, discarding. */
  @Test
  void discardingPanesAreNumberedThroughAndTheirWindowExpiresInSilence() {
    earlyOnTimeLate("discarding-panes", false);
    assertThat(
        panes("panes", PaneCasesTest::numbered),
        contains("k=[1, 2] EARLY 0/-1", "k=[3] ON_TIME 1/0", "k=[4] LATE 2/1"));
  }

  private static Script mergingSessions() {
    return Script.split().at(0, "1").epoch().at(8, "2").epoch().at(4, "4").epoch().end();
  }

  private void sumSessions(String name, Window<String> windows) {
    SparkStructuredStreamingPipelineResult result =
        run(
            p ->
                p.apply(Script.read(name, mergingSessions()))
                    .apply(windows)
                    .apply(
                        MapElements.into(
                                TypeDescriptors.kvs(TypeDescriptors.strings(), TypeDescriptors.longs()))
                            .via((String number) -> KV.of("k", Long.parseLong(number))))
                    .apply(Sum.longsPerKey())
                    .apply(recorder.as("sums")));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
    assertThat(result.progress().steps().stream().mapToLong(step -> step.stateRows()).sum(), is(0L));
  }

  private static Window<String> sessions() {
    return Window.into(Sessions.withGapDuration(Duration.standardSeconds(5)));
  }

  private static String withWindow(Recorded pane) {
    return pane.value() + " " + pane.timing() + " to " + pane.window();
  }

  /** apache/beam#118, seznam/euphoria#79: one session of three, and one pane of it. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void sessionsThatAnElementJoinsGiveOnePane(boolean lifted) {
    sumSessions("sessions-" + lifted, lifted ? sessions() : withoutLifting(sessions()));
    assertThat(panes("sums", PaneCasesTest::withWindow), contains("k=7 ON_TIME to 12999"));
  }

  /** apache/beam#118: sessions that have fired early and are then joined fire no more by themselves. */
  @Test
  void sessionsThatFiredEarlyBeforeTheyWereJoinedHaveNoPaneOnTime() {
    sumSessions(
        "early-sessions",
        sessions()
            .triggering(
                AfterWatermark.pastEndOfWindow().withEarlyFirings(AfterPane.elementCountAtLeast(1)))
            .withAllowedLateness(Duration.ZERO)
            .accumulatingFiredPanes());
    List<String> panes = panes("sums", PaneCasesTest::withWindow);
    assertThat(
        panes.stream().filter(pane -> !pane.contains(" EARLY ")).toList(),
        contains("k=7 ON_TIME to 12999"));
    assertThat(
        panes.stream().filter(pane -> pane.contains(" EARLY ")).toList(),
        contains("k=1 EARLY to 4999", "k=2 EARLY to 12999", "k=7 EARLY to 12999"));
  }

  /** apache/beam#31658, apache/beam#35384: overlapping windows each fire at their own end. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void slidingWindowsFireNotBeforeTheirEnd(boolean byWindow) {
    Events events = Events.stream();
    for (int second = 1; second <= 6; second++) {
      events.at(second, Integer.toString(second)).watermark(second - 0.5);
    }
    TestStream<String> stream = events.end();
    Window<String> windows =
        Window.into(
            SlidingWindows.of(Duration.standardSeconds(5)).every(Duration.standardSeconds(3)));
    List<Long> watermarks;
    try (EpochLog log = EpochLog.of(SPARK)) {
      run(
          p ->
              p.apply(stream)
                  .apply(byWindow ? windows : withoutLifting(windows))
                  .apply(keyed())
                  .apply(GroupByKey.create())
                  .apply(recorder.as("panes")));
      watermarks = log.watermarks("GroupByKey", "inputWatermark");
    }
    assertThat(
        panes("panes", pane -> pane.value() + " to " + pane.window()),
        contains(
            "k=[1] to 1999",
            "k=[1, 2, 3, 4] to 4999",
            "k=[3, 4, 5, 6] to 7999",
            "k=[6] to 10999"));
    for (Recorded pane : recorder.seen("panes")) {
      int epoch = Math.toIntExact(pane.epoch());
      assertThat(pane.toString(), watermarks.get(epoch), greaterThan(pane.window()));
      assertThat(
          "no epoch before " + pane,
          watermarks.subList(0, epoch),
          everyItem(lessThanOrEqualTo(pane.window())));
    }
    // The last element and its watermark: the window that ends at 5 has closed by then, no other has.
    assertThat(watermarks.get(10), is(4500L));
    assertThat(watermarks.get(11), is(5500L));
  }
}
