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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Counters;
import org.apache.beam.runners.spark.structuredstreaming.testing.EpochLog;
import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.windowing.AfterProcessingTime;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.transforms.windowing.Window.OnTimeBehavior;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;

/** What happens between the events of a TestStream, and with elements that are late by it. */
class TestStreamCasesTest extends PipelineCase {
  private static Window<String> fixed(long seconds) {
    return Window.into(FixedWindows.of(Duration.standardSeconds(seconds)));
  }

  /** A pane for what came in the five seconds of processing time behind its first element. */
  private static Window<String> everyFiveSeconds() {
    return Window.<String>into(new GlobalWindows())
        .triggering(
            Repeatedly.forever(
                AfterProcessingTime.pastFirstElementInPane()
                    .plusDelayOf(Duration.standardSeconds(5))))
        .withAllowedLateness(Duration.ZERO)
        .withOnTimeBehavior(OnTimeBehavior.FIRE_IF_NON_EMPTY)
        .discardingFiredPanes();
  }

  private SparkStructuredStreamingPipelineResult group(
      TestStream<String> stream, Window<String> windows) {
    return run(
        p ->
            p.apply(stream)
                .apply(windows)
                .apply(keyed())
                .apply(GroupByKey.create())
                .apply(recorder.as("groups")));
  }

  private static String atEpoch(Recorded pane) {
    return pane.value() + " in epoch " + pane.epoch();
  }

  /** apache/spark#38405: what a window gives at its end is not late for the step behind it. */
  @Test
  void theResultOfAWindowIsOnTimeForTheNextWindowing() {
    SparkStructuredStreamingPipelineResult result;
    try (EpochLog log = EpochLog.of(SPARK)) {
      result =
          run(
              p ->
                  p.apply(Events.stream().at(1, "k").then().at(6, "k").watermark(12).end())
                      .apply(fixed(10))
                      .apply(Count.perElement())
                      .apply(recorder.as("sums"))
                      .apply(Window.into(FixedWindows.of(Duration.standardSeconds(5))))
                      .apply(Count.perKey())
                      .apply(recorder.as("counts")));
      for (JsonNode epoch : log.epochs()) {
        for (JsonNode operator : epoch.path("stateOperators")) {
          assertThat(operator.path("numRowsDroppedByWatermark").asLong(), is(0L));
        }
      }
    }
    assertThat(
        panes("sums", pane -> pane.value() + " at " + pane.timestampMillis()),
        contains("k=2 at 9999"));
    assertThat(
        panes("counts", pane -> pane.value() + " to " + pane.window()), contains("k=1 to 9999"));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }

  /** apache/spark#56043: an element at the watermark, or at its window's end, is not late. */
  @Test
  void anElementAtTheWatermarkIsKept() {
    SparkStructuredStreamingPipelineResult result =
        group(
            Events.stream().at(5, "x").watermark(5).at(5, "y").watermark(9.999).at(9.999, "z").end(),
            fixed(10));
    assertThat(panes("groups", Recorded::value), contains("k=[x, y, z]"));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }

  @Test
  void anElementBehindItsWindowsExpiryIsDroppedAndCounted() {
    SparkStructuredStreamingPipelineResult result =
        group(
            Events.stream().at(1, "a").watermark(10).at(2, "late").at(11, "b").end(), fixed(10));
    assertThat(panes("groups", Recorded::value), contains("k=[a]", "k=[b]"));
    assertThat(Counters.droppedDueToLateness(result), is(1L));
  }

  /** apache/beam#28272: a Reshuffle drops nothing, however late. */
  @Test
  void aReshuffleLetsLateElementsPass() {
    SparkStructuredStreamingPipelineResult result =
        run(
            p ->
                p.apply(Events.stream().watermark(100).at(1, "e").end())
                    .apply(fixed(10))
                    .apply(Reshuffle.viaRandomKey())
                    .apply(recorder.as("passed")));
    assertThat(
        panes("passed", pane -> pane.value() + " at " + pane.timestampMillis()),
        contains("e at 1000"));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }

  /** An epoch has one event; a pane fires in the epoch whose clock has passed its time. */
  @Test
  void aDelayIsOverWhenProcessingTimeHasPassedIt() {
    group(
        Events.stream().at(1, "a").pass(5).at(2, "b").pass(0.001).at(3, "c").pass(6).end(),
        everyFiveSeconds());
    assertThat(
        panes("groups", TestStreamCasesTest::atEpoch),
        contains("k=[a, b] in epoch 3", "k=[c] in epoch 5"));
  }

  /** A limit of records does not tear an event apart. */
  @Test
  void theElementsOfAnEventComeInOneEpoch() {
    new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            p ->
                p.apply(Events.stream().at(1, "a").at(2, "b").at(3, "c").end())
                    .apply(recorder.as("elements")),
            "--maxRecordsPerMicroBatch=1")
        .runToTheEnd();
    assertThat(
        panes("elements", TestStreamCasesTest::atEpoch),
        contains("a in epoch 0", "b in epoch 0", "c in epoch 0"));
  }

  /** Streams go on together, by one clock. */
  @Test
  void severalStreamsAdvanceOneClock() {
    run(
        p -> {
          groupStream(p, "one", Events.stream().at(1, "a").pass(2).pass(2).end());
          groupStream(p, "two", Events.stream().at(1, "x").pass(1).pass(1).pass(1).end());
        });
    assertThat(panes("one", TestStreamCasesTest::atEpoch), contains("k=[a] in epoch 2"));
    assertThat(panes("two", TestStreamCasesTest::atEpoch), contains("k=[x] in epoch 2"));
  }

  private void groupStream(Pipeline pipeline, String name, TestStream<String> stream) {
    PCollection<String> input = pipeline.apply(name + " stream", stream);
    input
        .apply(name + " window", everyFiveSeconds())
        .apply(name + " keys", keyed())
        .apply(name + " group", GroupByKey.create())
        .apply(name + " record", recorder.as(name));
  }

  @Test
  void aCheckpointOfOtherEventsIsRefused() {
    TestStream<String> before = Events.stream().at(1, "a").watermark(2).at(3, "b").end();
    TestStream<String> after = Events.stream().at(1, "a").watermark(2).at(3, "c").end();
    assertThat(
        harness(p -> p.apply("stream", before)).runToTheEnd().getState(), is(State.DONE));
    IllegalStateException refused =
        assertThrows(
            IllegalStateException.class, () -> harness(p -> p.apply("stream", after)).start());
    assertThat(refused.getMessage(), containsString("source 'stream': its events was 4 events"));
  }
}
