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
package org.apache.beam.runners.spark.structuredstreaming.restarts;

import static org.apache.beam.runners.spark.structuredstreaming.restarts.RestartedPipeline.read;

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
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
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** Timers of DoFns in every domain, what they hold, and the expiry of windows. */
final class TimerPipelines {
  private TimerPipelines() {}

  static List<RestartedPipeline> all() {
    return List.of(
        eventTimers(),
        holdingTimers(),
        processingTimers(),
        timerFamily(),
        loopingTimer(),
        expiringWindows());
  }

  private static RestartedPipeline eventTimers() {
    return RestartedPipeline.of(
        "event timers, set again and cleared",
        p ->
            p.apply(
                    read(
                        "event-timers",
                        Script.split()
                            .at(1, "a:15").at(1, "b:5").at(1, "c:7").watermark(1).epoch()
                            .watermark(6).epoch()
                            .at(6, "a:9").at(6, "c:clear").epoch()
                            .watermark(10).epoch()
                            .at(10, "b:12").epoch()
                            .at(11, "b:30").watermark(20).epoch()
                            .end()))
                .apply(ParDo.of(new EventTimerFn())),
        "b @5", "a @9", "b @30");
  }

  private static RestartedPipeline holdingTimers() {
    return RestartedPipeline.of(
        "timers that hold the watermark at their output time",
        p ->
            p.apply(
                    read(
                        "holding-timers",
                        Script.split()
                            .at(1, "a:1").watermark(1).epoch()
                            .at(12, "a:2").at(13, "b:3").watermark(20).epoch()
                            .watermark(25).epoch()
                            .watermark(31).epoch()
                            .end()))
                .apply(ParDo.of(new HoldFn()))
                .apply(Window.into(FixedWindows.of(Duration.standardSeconds(10))))
                .apply(WithKeys.of("k"))
                .apply(GroupByKey.create()),
        "k=[a 1, 2] @9.999 [0, 10) ON_TIME 0/0 last",
        "k=[b 3] @19.999 [10, 20) ON_TIME 0/0 last");
  }

  private static RestartedPipeline processingTimers() {
    return RestartedPipeline.of(
        "timers by processing time, set again",
        p ->
            p.apply(
                    read(
                        Events.stream()
                            .at(1, "a:1").pass(2).at(2, "b:1").pass(2)
                            .at(5, "a:2").pass(2).at(6, "a:3").pass(2).pass(2)))
                .apply(ParDo.of(new ProcessingTimerFn())),
        "a @1", "b @2", "a @6");
  }

  private static RestartedPipeline timerFamily() {
    return RestartedPipeline.of(
        "a timer family with dynamic tags",
        p ->
            p.apply(
                    read(
                        "timer-family",
                        Script.split()
                            .at(1, "a:x=5").at(1, "a:y=8").at(1, "b:x=6").watermark(1).epoch()
                            .watermark(5.5).epoch()
                            .at(6, "a:y=20").at(6, "a:z=9").at(6, "b:x=").epoch()
                            .watermark(10).epoch()
                            .watermark(12).epoch()
                            .end()))
                .apply(ParDo.of(new FamilyFn())),
        "a x @5", "a z @9", "a y @20");
  }

  private static RestartedPipeline loopingTimer() {
    return RestartedPipeline.of(
        "a timer that sets itself again",
        p ->
            p.apply(
                    read(
                        "looping-timer",
                        Script.split()
                            .at(1, "a:").watermark(1).epoch()
                            .watermark(12).epoch()
                            .at(13, "b:").watermark(13).epoch()
                            .watermark(22).epoch()
                            .end()))
                .apply(ParDo.of(new LoopFn())),
        "a @6", "a @11", "a @16", "a @21", "a @26", "b @18", "b @23", "b @28");
  }

  private static RestartedPipeline expiringWindows() {
    return RestartedPipeline.of(
        "windows that expire",
        p ->
            p.apply(
                    read(
                        "expiring-windows",
                        Script.split()
                            .at(1, "a:").at(2, "a:").at(3, "b:").watermark(3).epoch()
                            .at(11, "a:").watermark(12).epoch()
                            .at(4, "a:").watermark(13).epoch()
                            .watermark(16).epoch()
                            .at(5, "b:").watermark(20).epoch()
                            .end()))
                .apply(
                    Window.<KV<String, String>>into(
                            FixedWindows.of(Duration.standardSeconds(10)))
                        .withAllowedLateness(Duration.standardSeconds(5))
                        .discardingFiredPanes())
                .apply(ParDo.of(new ExpiringFn())),
        "a 3 @9.999 [0, 10)", "b 1 @9.999 [0, 10)", "a 1 @19.999 [10, 20)");
  }

  /** Sets its timer to the second that an element names, or clears it. */
  static final class EventTimerFn extends DoFn<KV<String, String>, String> {
    @TimerId("timer")
    private final TimerSpec timerSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @ProcessElement
    public void process(@Element KV<String, String> element, @TimerId("timer") Timer timer) {
      if (element.getValue().equals("clear")) {
        timer.clear();
      } else {
        timer.set(Instant.ofEpochSecond(Long.parseLong(element.getValue())));
      }
    }

    @OnTimer("timer")
    public void onTimer(@Key String key, OutputReceiver<String> out) {
      out.output(key);
    }
  }

  /** Keeps elements until second 30 and gives them out at the time of the first. */
  static final class HoldFn extends DoFn<KV<String, String>, String> {
    @TimerId("flush")
    private final TimerSpec flushSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @StateId("kept")
    private final StateSpec<BagState<String>> keptSpec = StateSpecs.bag(StringUtf8Coder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @Timestamp Instant timestamp,
        @StateId("kept") BagState<String> kept,
        @TimerId("flush") Timer flush) {
      if (kept.isEmpty().read()) {
        flush.withOutputTimestamp(timestamp).set(Instant.ofEpochSecond(30));
      }
      kept.add(element.getValue());
    }

    @OnTimer("flush")
    public void onFlush(
        @Key String key, @StateId("kept") BagState<String> kept, OutputReceiver<String> out) {
      out.output(key + " " + String.join(", ", kept.read()));
      kept.clear();
    }
  }

  /** Fires three seconds of processing time behind the last element. */
  static final class ProcessingTimerFn extends DoFn<KV<String, String>, String> {
    @TimerId("timer")
    private final TimerSpec timerSpec = TimerSpecs.timer(TimeDomain.PROCESSING_TIME);

    @ProcessElement
    public void process(@Element KV<String, String> element, @TimerId("timer") Timer timer) {
      timer.offset(Duration.standardSeconds(3)).setRelative();
    }

    @OnTimer("timer")
    public void onTimer(@Key String key, OutputReceiver<String> out) {
      out.output(key);
    }
  }

  /** Sets the timer of the tag that an element names to its second; none clears it. */
  static final class FamilyFn extends DoFn<KV<String, String>, String> {
    @TimerFamily("family")
    final TimerSpec familySpec = TimerSpecs.timerMap(TimeDomain.EVENT_TIME);

    @ProcessElement
    public void process(
        @Element KV<String, String> element, @TimerFamily("family") TimerMap family) {
      String value = element.getValue();
      String tag = value.substring(0, value.indexOf('='));
      String second = value.substring(value.indexOf('=') + 1);
      if (second.isEmpty()) {
        family.get(tag).clear();
      } else {
        family.set(tag, Instant.ofEpochSecond(Long.parseLong(second)));
      }
    }

    @OnTimerFamily("family")
    public void onTimer(@TimerId String tag, @Key String key, OutputReceiver<String> out) {
      out.output(key + " " + tag);
    }
  }

  /** Fires every five seconds behind an element, up to second 30. */
  static final class LoopFn extends DoFn<KV<String, String>, String> {
    private static final Duration PERIOD = Duration.standardSeconds(5);

    @TimerId("loop")
    private final TimerSpec loopSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @ProcessElement
    public void process(@Timestamp Instant timestamp, @TimerId("loop") Timer loop) {
      loop.set(timestamp.plus(PERIOD));
    }

    @OnTimer("loop")
    public void onLoop(
        OnTimerContext context, @Key String key, @TimerId("loop") Timer loop, OutputReceiver<String> out) {
      out.output(key);
      Instant next = context.fireTimestamp().plus(PERIOD);
      if (!next.isAfter(Instant.ofEpochSecond(30))) {
        loop.set(next);
      }
    }
  }

  /** Counts the elements of a window and tells their number when it expires. */
  static final class ExpiringFn extends DoFn<KV<String, String>, String> {
    @StateId("count")
    private final StateSpec<ValueState<Integer>> countSpec = StateSpecs.value(VarIntCoder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element, @StateId("count") ValueState<Integer> count) {
      Integer before = count.read();
      count.write(before == null ? 1 : before + 1);
    }

    @OnWindowExpiration
    public void onExpiration(
        @Key String key, @StateId("count") ValueState<Integer> count, OutputReceiver<String> out) {
      out.output(key + " " + count.read());
    }
  }
}
