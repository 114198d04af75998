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

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.beam.runners.core.LateDataUtils;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.core.StateNamespaces;
import org.apache.beam.runners.core.StateTag;
import org.apache.beam.runners.core.StateTags;
import org.apache.beam.runners.core.TimerInternals.TimerData;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.KeyState;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepClock;
import org.apache.beam.runners.spark.structuredstreaming.translation.StatefulParDoStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.state.OrderedListState;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.TimestampedValue;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.joda.time.Duration;
import org.joda.time.Instant;

/**
 * Elements of a key and window in the order of their timestamps, those of the same time in the order
 * of their arrival.
 *
 * <p>With {@code in} the input watermark and {@code L} the allowed lateness: an element at {@code t}
 * is accepted while {@code in <= t + L}, waits until {@code t + L < in}, and holds the output
 * watermark at {@code t} until then. So no element that is still accepted can come before one that
 * was handed on. A timer at the earliest {@code t + L}, or at the window's end with its lateness if
 * that is earlier, says when to look; its id sorts before those of a DoFn's timers, so that an
 * element comes before a timer of its own time.
 */
final class TimeSorting {
  private static final String TIMER = "__sort";
  private static final String NO_FAMILY = "";

  private final StepClock clock;
  private final WindowingStrategy<?, ?> windowing;
  private final Duration lateness;
  private final Coder<BoundedWindow> windowCoder;
  private final StateTag<OrderedListState<WindowedValue<Object>>> buffer;
  private final StateTag<ValueState<Long>> earliest =
      StateTags.makeSystemTagInternal(
          StateTags.value("sortEarliest", VarLongCoder.of()));

  TimeSorting(StatefulParDoStep step, StepClock clock) {
    this.clock = clock;
    this.windowing = step.windowingStrategy();
    this.lateness = windowing.getAllowedLateness();
    this.windowCoder = step.input().windowCoder();
    this.buffer =
        StateTags.makeSystemTagInternal(
            StateTags.orderedList("sortBuffer", step.input().windowedValueCoder()));
  }

  /** Whether an element of this time comes too late to be put in order. */
  boolean isLate(Instant timestamp) {
    return timestamp.plus(lateness).getMillis() < clock.inputWatermark();
  }

  /** Takes an element that is not late. */
  void add(KeyState<Object> key, BoundedWindow window, WindowedValue<Object> element) {
    StateNamespace namespace = namespace(window);
    key.stateInternals()
        .state(namespace, buffer)
        .add(TimestampedValue.of(element, element.getTimestamp()));
    ValueState<Long> known = key.stateInternals().state(namespace, earliest);
    Long before = known.read();
    if (before == null || element.getTimestamp().getMillis() < before) {
      setTimer(key, window, element.getTimestamp());
    }
  }

  boolean isFlush(TimerData timer) {
    return timer.getTimerId().equals(TIMER) && timer.getTimerFamilyId().equals(NO_FAMILY);
  }

  /** Removes and returns the elements whose turn has come, in order. */
  List<WindowedValue<Object>> takeReady(KeyState<Object> key, BoundedWindow window) {
    OrderedListState<WindowedValue<Object>> waiting =
        key.stateInternals().state(namespace(window), buffer);
    Instant limit =
        clock.inputWatermark() >= BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis()
            ? BoundedWindow.TIMESTAMP_MAX_VALUE.plus(Duration.millis(1))
            : Instant.ofEpochMilli(clock.inputWatermark()).minus(lateness);
    List<WindowedValue<Object>> ready = new ArrayList<>();
    for (TimestampedValue<WindowedValue<Object>> value :
        waiting.readRange(BoundedWindow.TIMESTAMP_MIN_VALUE, limit)) {
      ready.add(value.getValue());
    }
    waiting.clearRange(BoundedWindow.TIMESTAMP_MIN_VALUE, limit);
    return ready;
  }

  /** Sets the timer for what still waits. */
  void scheduleNext(KeyState<Object> key, BoundedWindow window) {
    StateNamespace namespace = namespace(window);
    Iterator<TimestampedValue<WindowedValue<Object>>> waiting =
        key.stateInternals().state(namespace, buffer).read().iterator();
    if (waiting.hasNext()) {
      setTimer(key, window, waiting.next().getTimestamp());
    } else {
      key.stateInternals().state(namespace, earliest).clear();
    }
  }

  private void setTimer(KeyState<Object> key, BoundedWindow window, Instant first) {
    StateNamespace namespace = namespace(window);
    key.stateInternals().state(namespace, earliest).write(first.getMillis());
    Instant gc = LateDataUtils.garbageCollectionTime(window, lateness);
    Instant ready = first.plus(lateness);
    key.timerInternals()
        .setTimer(
            namespace,
            TIMER,
            NO_FAMILY,
            ready.isAfter(gc) ? gc : ready,
            first,
            TimeDomain.EVENT_TIME);
  }

  private StateNamespace namespace(BoundedWindow window) {
    return StateNamespaces.window(windowCoder, window);
  }
}
