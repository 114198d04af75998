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
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerMap;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When timers of a DoFn fire, in which order, and when they do not. */
class TimerCasesTest extends PipelineCase {
  private static Instant second(long seconds) {
    return Instant.ofEpochSecond(seconds);
  }

  private List<String> fired() {
    return recorder.seen("fired").stream().map(Recorded::value).toList();
  }

  private List<String> firedInEpochs() {
    return recorder.seen("fired").stream()
        .map(fired -> fired.value() + " in epoch " + fired.epoch())
        .toList();
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

  /** apache/beam#15123: both are due when the first of them fires. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aTimerThatAnEarlierOneClearsOrMovesDoesNotFireAsItWas(boolean resets) {
    run(
        p ->
            p.apply(Events.stream().at(0, "x").watermark(10).watermark(30).end())
                .apply(keyed())
                .apply(ParDo.of(new RivalTimers(resets)))
                .apply(recorder.as("fired")));
    assertThat(
        firedInEpochs(),
        is(
            resets
                ? List.of("A at 5000 in epoch 1", "B at 20000 in epoch 2")
                : List.of("A at 5000 in epoch 1")));
  }

  /** A timer at 5 s, or at 11 s, that some elements clear. */
  static final class ClearedTimer extends DoFn<KV<String, String>, String> {
    private final long seconds;
    private final String clearing;

    @TimerId("timer")
    final TimerSpec spec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @StateId("count")
    private final StateSpec<ValueState<Integer>> countSpec = StateSpecs.value(VarIntCoder.of());

    ClearedTimer(long seconds, String clearing) {
      this.seconds = seconds;
      this.clearing = clearing;
    }

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @TimerId("timer") Timer timer,
        @StateId("count") ValueState<Integer> count) {
      if (count.read() == null) {
        timer.set(second(seconds));
        count.write(1);
      }
      if (element.getValue().equals(clearing)) {
        timer.clear();
      }
    }

    @OnTimer("timer")
    public void onTimer(OutputReceiver<String> out) {
      out.output("fired");
    }
  }

  /** apache/beam#15123: the watermark that passes the timer comes in the epoch of the element. */
  @ParameterizedTest
  @ValueSource(strings = {"clear", "keep"})
  void anElementClearsATimerThatItsOwnEpochMakesDue(String second) {
    Script script = Script.split().at(0, "x").epoch().at(1, second).watermark(10).epoch().end();
    run(
        p ->
            p.apply(Script.read("cleared-" + second, script))
                .apply(keyed())
                .apply(ParDo.of(new ClearedTimer(5, "clear")))
                .apply(recorder.as("fired")));
    assertThat(fired(), is(second.equals("clear") ? List.of() : List.of("fired")));
  }

  /** apache/beam#35090: the watermark stays behind the timer until the fifth element clears it. */
  @Test
  void aTimerThatTheWatermarkHasNotPassedDoesNotFire() {
    run(
        p ->
            p.apply(
                    Events.stream()
                        .at(1, "1").watermark(1)
                        .at(2, "2").watermark(2)
                        .at(3, "3").watermark(3)
                        .at(4, "4").watermark(4)
                        .at(5, "5").watermark(5)
                        .end())
                .apply(keyed())
                .apply(ParDo.of(new ClearedTimer(11, "5")))
                .apply(recorder.as("fired")));
    assertThat(fired(), empty());
  }

  /** Timers a, b and c of an element, of which each tells which fired before it. */
  static final class ThreeTimers extends DoFn<KV<String, String>, String> {
    private final boolean byEventTime;
    private final long apartMillis;

    @TimerId("a")
    final TimerSpec specA;

    @TimerId("b")
    final TimerSpec specB;

    @TimerId("c")
    final TimerSpec specC;

    @StateId("fired")
    private final StateSpec<BagState<String>> firedSpec = StateSpecs.bag(StringUtf8Coder.of());

    ThreeTimers(TimeDomain domain, long apartMillis) {
      byEventTime = domain == TimeDomain.EVENT_TIME;
      this.apartMillis = apartMillis;
      specA = TimerSpecs.timer(domain);
      specB = TimerSpecs.timer(domain);
      specC = TimerSpecs.timer(domain);
    }

    /** By event time in the order c, b, a; by processing time in the order b, a, c. */
    @ProcessElement
    public void process(
        @TimerId("a") Timer a, @TimerId("b") Timer b, @TimerId("c") Timer c) {
      if (byEventTime) {
        b.set(second(1).plus(Duration.millis(2 * apartMillis)));
        a.set(second(1).plus(Duration.millis(3 * apartMillis)));
        c.set(second(1).plus(Duration.millis(apartMillis)));
      } else {
        c.offset(Duration.millis(3 * apartMillis)).setRelative();
        b.offset(Duration.millis(apartMillis)).setRelative();
        a.offset(Duration.millis(2 * apartMillis)).setRelative();
      }
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

  /** apache/beam#39824, apache/beam#19887: all three are due in one epoch. */
  @ParameterizedTest
  @CsvSource({"EVENT_TIME, 1", "EVENT_TIME, 1000", "PROCESSING_TIME, 1", "PROCESSING_TIME, 1000"})
  void timersFireInTheOrderOfTheirTimesAndSeeWhatEarlierOnesWrote(
      TimeDomain domain, long apartMillis) {
    run(
        p ->
            p.apply(Events.stream().at(0, "x").watermark(0.5).pass(10).watermark(10).end())
                .apply(keyed())
                .apply(ParDo.of(new ThreeTimers(domain, apartMillis)))
                .apply(recorder.as("fired")));
    assertThat(
        firedInEpochs(),
        domain == TimeDomain.EVENT_TIME
            ? contains(
                "c after [] in epoch 3", "b after [c] in epoch 3", "a after [c, b] in epoch 3")
            : contains(
                "b after [] in epoch 2", "a after [b] in epoch 2", "c after [b, a] in epoch 2"));
  }

  /** A timer and two families of timers that have one of the same name. */
  static final class SameNames extends DoFn<KV<String, String>, String> {
    @TimerId("x")
    private final TimerSpec timerSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @TimerFamily("family")
    final TimerSpec familySpec = TimerSpecs.timerMap(TimeDomain.EVENT_TIME);

    @TimerFamily("other")
    final TimerSpec otherSpec = TimerSpecs.timerMap(TimeDomain.EVENT_TIME);

    @ProcessElement
    public void process(
        @TimerId("x") Timer x,
        @TimerFamily("family") TimerMap family,
        @TimerFamily("other") TimerMap other) {
      x.set(second(5));
      other.set("x", second(8));
      other.set("y", second(9));
      family.set("x", second(6));
      family.set("y", second(7));
      family.get("x").clear();
    }

    @OnTimer("x")
    public void onTimer(OnTimerContext context, OutputReceiver<String> out) {
      out.output("x at " + context.fireTimestamp().getMillis());
    }

    @OnTimerFamily("family")
    public void onFamily(
        @TimerId String id, OnTimerContext context, OutputReceiver<String> out) {
      out.output("family " + id + " at " + context.fireTimestamp().getMillis());
    }

    @OnTimerFamily("other")
    public void onOther(
        @TimerId String id, OnTimerContext context, OutputReceiver<String> out) {
      out.output("other " + id + " at " + context.fireTimestamp().getMillis());
    }
  }

  /** apache/beam#10804: a timer of a family is told from one of the same name elsewhere. */
  @Test
  void aTimerAndFamiliesMayUseOneName() {
    run(
        p ->
            p.apply(Events.stream().at(0, "a").watermark(10).end())
                .apply(keyed())
                .apply(ParDo.of(new SameNames()))
                .apply(recorder.as("fired")));
    assertThat(fired(), contains("x at 5000", "family y at 7000", "other x at 8000", "other y at 9000"));
  }

  /** Tells of the expiry of its window. */
  static final class ExpiryFn extends DoFn<KV<String, String>, String> {
    @StateId("seen")
    private final StateSpec<ValueState<Integer>> seenSpec = StateSpecs.value(VarIntCoder.of());

    @ProcessElement
    public void process(@StateId("seen") ValueState<Integer> seen) {
      seen.write(1);
    }

    @OnWindowExpiration
    public void onExpiration(
        @Key String key, @StateId("seen") ValueState<Integer> seen, OutputReceiver<String> out) {
      out.output(key + " " + seen.read());
    }
  }

  /** apache/beam#20203, apache/beam#33037: end and lateness together lie behind the end of time. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void theGlobalWindowExpiresOnceForEachKeyWhateverTheLateness(long days) {
    run(
        p ->
            p.apply(Events.stream().at(0, "a").at(0, "b").end())
                .apply(
                    Window.<String>into(new GlobalWindows())
                        .withAllowedLateness(Duration.standardDays(days))
                        .discardingFiredPanes())
                .apply(WithKeys.of((String s) -> s).withKeyType(TypeDescriptors.strings()))
                .apply(ParDo.of(new ExpiryFn()))
                .apply(recorder.as("fired")));
    assertThat(recorder.values("fired"), contains("a 1", "b 1"));
  }
}
