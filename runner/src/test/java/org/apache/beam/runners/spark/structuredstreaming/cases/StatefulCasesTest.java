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
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.is;

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Counters;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupIntoBatches;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** State and timers of a DoFn. */
class StatefulCasesTest extends PipelineCase {
  private static Instant second(double seconds) {
    return Instant.ofEpochMilli(Math.round(seconds * 1000));
  }

  /** Timers A at 5 s and B at 6 s, of which A's callback clears B or sets it to 20 s. */
  static final class RivalTimers extends DoFn<KV<String, String>, String> {
    private final boolean resets;

    @TimerId("a")
    final TimerSpec specA = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @TimerId("b")
    final TimerSpec specB = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    RivalTimers(boolean resets) {
      this.resets = resets;
    }

    @ProcessElement
    public void process(@TimerId("a") Timer a, @TimerId("b") Timer b) {
      a.set(second(5));
      b.set(second(6));
    }

    @OnTimer("a")
    public void onA(OnTimerContext context, @TimerId("b") Timer b, OutputReceiver<String> out) {
      if (resets) {
        b.set(second(20));
      } else {
        b.clear();
      }
      out.output("A at " + context.fireTimestamp().getMillis());
    }

    @OnTimer("b")
    public void onB(OnTimerContext context, OutputReceiver<String> out) {
      out.output("B at " + context.fireTimestamp().getMillis());
    }
  }

  /** apache/beam#15123. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aTimerThatAnEarlierOneClearsOrMovesDoesNotFireAsItWas(boolean resets) {
    Script script =
        Script.split().at(0, "x").epoch().watermark(10).epoch().watermark(30).epoch().end();
    run(
        p ->
            p.apply(Script.read("rivals-" + resets, script))
                .apply(keyed())
                .apply(ParDo.of(new RivalTimers(resets)))
                .apply(recorder.as("fired")));
    List<String> fired = recorder.seen("fired").stream().map(Recorded::value).toList();
    assertThat(
        fired, is(resets ? List.of("A at 5000", "B at 20000") : List.of("A at 5000")));
  }

  /** Three timers due at once, whose names are in another order than their times. */
  static final class ThreeTimers extends DoFn<KV<String, String>, String> {
    @TimerId("a")
    final TimerSpec specA = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @TimerId("b")
    final TimerSpec specB = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @TimerId("c")
    final TimerSpec specC = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @StateId("fired")
    private final StateSpec<BagState<String>> firedSpec = StateSpecs.bag(StringUtf8Coder.of());

    @ProcessElement
    public void process(
        @TimerId("a") Timer a, @TimerId("b") Timer b, @TimerId("c") Timer c) {
      b.set(second(2));
      a.set(second(3));
      c.set(second(1));
    }

    private static void fire(String name, BagState<String> fired, OutputReceiver<String> out) {
      List<String> before = new ArrayList<>();
      fired.read().forEach(before::add);
      fired.add(name);
      out.output(name + " after " + before);
    }

    @OnTimer("a")
    public void onA(@StateId("fired") BagState<String> fired, OutputReceiver<String> out) {
      fire("a", fired, out);
    }

    @OnTimer("b")
    public void onB(@StateId("fired") BagState<String> fired, OutputReceiver<String> out) {
      fire("b", fired, out);
    }

    @OnTimer("c")
    public void onC(@StateId("fired") BagState<String> fired, OutputReceiver<String> out) {
      fire("c", fired, out);
    }
  }

  /** apache/beam#39824, apache/beam#19887. */
  @Test
  void timersFireInTheOrderOfTheirTimesAndSeeWhatEarlierOnesWrote() {
    Script script = Script.split().at(0, "x").epoch().watermark(10).epoch().end();
    run(
        p ->
            p.apply(Script.read("order", script))
                .apply(keyed())
                .apply(ParDo.of(new ThreeTimers()))
                .apply(recorder.as("fired")));
    assertThat(
        recorder.seen("fired").stream().map(Recorded::value).toList(),
        contains("c after []", "b after [c]", "a after [c, b]"));
  }

  /** apache/beam#22524. */
  @Test
  void theLastPartOfABatchLeavesWhenItsWindowExpires() {
    Script script =
        Script.split().at(1, "1").at(2, "2").at(3, "3").at(4, "4").epoch()
            .at(5, "5").at(6, "6").at(7, "7").watermark(12).epoch().watermark(30).epoch().end();
    SparkStructuredStreamingPipelineResult result =
        run(
            p ->
                p.apply(Script.read("batches", script))
                    .apply(
                        Window.<String>into(FixedWindows.of(Duration.standardSeconds(10)))
                            .withAllowedLateness(Duration.standardSeconds(5))
                            .discardingFiredPanes())
                    .apply(keyed())
                    .apply(GroupIntoBatches.ofSize(3))
                    .apply(recorder.as("batches")));
    assertThat(
        recorder.seen("batches").stream().map(Recorded::value).toList(),
        containsInAnyOrder("k=[1, 2, 3]", "k=[4, 5, 6]", "k=[7]"));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
    assertThat(result.progress().steps().stream().mapToLong(step -> step.stateRows()).sum(), is(0L));
  }

  /** Passes its input on in the order in which it comes. */
  static final class InOrder extends DoFn<KV<String, String>, String> {
    @RequiresTimeSortedInput
    @ProcessElement
    public void process(@Element KV<String, String> element, OutputReceiver<String> out) {
      out.output(element.getValue());
    }
  }

  @Test
  void timeSortedInputComesInOrderAndWhatIsTooLateIsDropped() {
    Script script =
        Script.split().at(7, "7").at(3, "3").at(5, "5a").epoch()
            .at(5, "5b").watermark(5.5).epoch().at(4, "4 is late").at(6, "6").epoch().end();
    SparkStructuredStreamingPipelineResult result =
        run(
            p ->
                p.apply(Script.read("sorted", script))
                    .apply(keyed())
                    .apply(ParDo.of(new InOrder()))
                    .apply(recorder.as("sorted")));
    assertThat(
        recorder.seen("sorted").stream().map(Recorded::value).toList(),
        contains("3", "5a", "5b", "6", "7"));
    assertThat(Counters.droppedDueToLateness(result), is(1L));
  }
}
