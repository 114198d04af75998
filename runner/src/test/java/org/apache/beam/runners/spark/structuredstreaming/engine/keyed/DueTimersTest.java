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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.core.StateNamespaces;
import org.apache.beam.runners.core.TimerInternals.TimerData;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.CountingStateRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepClock;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepStateContext;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepTimers;
import org.apache.beam.sdk.coders.ByteArrayCoder;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;

/** In which order timers of several kinds of time fire, and which of them. */
class DueTimersTest {
  private static final StateNamespace GLOBAL =
      StateNamespaces.window(GlobalWindow.Coder.INSTANCE, GlobalWindow.INSTANCE);

  private final FixedClock clock = new FixedClock(100, 1_000_000);
  private final StepRows rows = new StepRows(new CountingStateRows(), 1, "Step");
  private final StepStateContext<byte[]> state =
      StepStateContext.withoutTimerHolds(
          rows, ByteArrayCoder.of(), GlobalWindow.Coder.INSTANCE, clock, 10);
  private final StepTimers timers = state.timers();
  private final List<String> fired = new ArrayList<>();

  private record FixedClock(long inputWatermark, long processingTime) implements StepClock {
    @Override
    public long outputWatermark() {
      return inputWatermark;
    }

    @Override
    public long synchronizedProcessingTime() {
      return processingTime;
    }
  }

  private void set(String key, String id, long time, TimeDomain domain) {
    Instant instant = Instant.ofEpochMilli(time);
    timers.set(
        key.getBytes(StandardCharsets.UTF_8),
        TimerData.of(id, "", GLOBAL, instant, instant, domain));
  }

  private void fire(Consumer<String> then) {
    new DueTimers(
            timers,
            clock,
            timer -> {
              fired.add(timer.timer().getTimerId());
              then.accept(timer.timer().getTimerId());
            })
        .complete();
  }

  @Test
  void eventTimersComeFirstThenBothKindsOfProcessingTimeTogether() {
    set("a", "p3", 999_993, TimeDomain.PROCESSING_TIME);
    set("b", "s2", 999_992, TimeDomain.SYNCHRONIZED_PROCESSING_TIME);
    set("c", "p1", 999_991, TimeDomain.PROCESSING_TIME);
    set("a", "e2", 92, TimeDomain.EVENT_TIME);
    set("b", "e1", 91, TimeDomain.EVENT_TIME);
    fire(id -> {});
    assertThat(fired, contains("e1", "e2", "p1", "s2", "p3"));
  }

  @Test
  void aTimerFiresOnceItsTimeIsPassedNotWhenItIsReached() {
    set("a", "event", 100, TimeDomain.EVENT_TIME);
    set("a", "processing", 1_000_000, TimeDomain.PROCESSING_TIME);
    set("a", "synchronized", 1_000_000, TimeDomain.SYNCHRONIZED_PROCESSING_TIME);
    fire(id -> {});
    assertThat(fired, empty());
    assertThat(DueTimers.earliestByProcessingTime(timers), is(1_000_000L));
  }

  @Test
  void whatAFiringSetsMovesOrDeletesCountsAtOnce() {
    set("a", "p1", 1, TimeDomain.PROCESSING_TIME);
    set("a", "deleted", 2, TimeDomain.PROCESSING_TIME);
    set("a", "moved", 3, TimeDomain.PROCESSING_TIME);
    set("a", "p4", 4, TimeDomain.SYNCHRONIZED_PROCESSING_TIME);
    fire(
        id -> {
          if (id.equals("p1")) {
            set("a", "event", 50, TimeDomain.EVENT_TIME);
            timers.delete(
                "a".getBytes(StandardCharsets.UTF_8),
                GLOBAL,
                "",
                "deleted",
                TimeDomain.PROCESSING_TIME);
            set("a", "moved", 2_000_000, TimeDomain.PROCESSING_TIME);
          }
        });
    assertThat(fired, contains("p1", "event", "p4"));
    assertThat(DueTimers.earliestByProcessingTime(timers), lessThanOrEqualTo(2_000_000L));
  }

  @Test
  void timersWithoutHoldsLeaveTheWatermarkAlone() {
    set("a", "event", 50, TimeDomain.EVENT_TIME);
    set("a", "processing", 1_000_001, TimeDomain.PROCESSING_TIME);
    assertThat(state.holds().earliest(), is(Long.MAX_VALUE));
    fire(id -> {});
    assertThat(fired, contains("event"));
  }
}
