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

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.core.StateNamespaces.WindowNamespace;
import org.apache.beam.runners.core.TimerInternals.TimerData;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LiveDoFn;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.FiredTimer;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.KeyState;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepStateContext;
import org.apache.beam.runners.spark.structuredstreaming.translation.StatefulParDoStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.PaneInfo.PaneInfoCoder;
import org.apache.beam.sdk.util.UserCodeException;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues;
import org.joda.time.Instant;

/**
 * Runs a DoFn with state or timers.
 *
 * <p>With {@code in} the input watermark and {@code gc(w)} the end of window {@code w} plus the
 * allowed lateness:
 *
 * <ul>
 *   <li>An element in {@code w} is dropped and counted if {@code gc(w) < in}, before the DoFn sees
 *       it. With time-sorted input, so is one whose own time plus lateness is behind {@code in}.
 *   <li>Timers fire as {@link DueTimers} says. State and timers that a call writes show in the next.
 *       The end of time comes as {@link EndOfTimeGate} says.
 *   <li>One millisecond behind {@code gc(w)}, and so behind all event time timers of {@code w}, the
 *       window expires for a key that had elements in it: {@code @OnWindowExpiration} is called, then
 *       state and timers of key and window are gone. Where there is such a method, the window's end
 *       holds the output watermark until then.
 * </ul>
 *
 * <p>Runners-core's StatefulDoFnRunner is not used for this: it refuses windows that have been merged
 * before, sets a timer with every element, and sorts by reading all that is buffered.
 */
final class StatefulParDoRunner extends KeyedParDoRunner {
  private static final byte WATERMARKS = StepWatermarks.engineKind(3);
  private static final int MAX_LIVE_KEYS = 10_000;

  private final StepStateContext<Object> state;
  private final Coder<Object> keyCoder;
  private final Coder<Object> valueCoder;
  private final Coder<BoundedWindow> windowCoder;
  private final EndOfTimeGate endOfTime;
  private final WindowExpiry expiry;
  private final TimeSorting sorting;
  private final ByteInput input = new ByteInput();
  private final List<BoundedWindow> recordWindows = new ArrayList<>();

  @SuppressWarnings("unchecked") // keys, values and windows are untyped between steps
  StatefulParDoRunner(
      StatefulParDoStep step,
      LiveDoFn doFn,
      MetricsContainerImpl container,
      StepRows rows,
      SideInputs sideInputs,
      EpochTime time) {
    super(step, doFn, container, rows, sideInputs, WATERMARKS, time.millis());
    this.keyCoder = (Coder<Object>) step.keyCoder();
    this.valueCoder = (Coder<Object>) step.valueCoder();
    this.windowCoder = step.input().windowCoder();
    this.state =
        new StepStateContext<>(
            rows, keyCoder, windowCoder, watermarks(), MAX_LIVE_KEYS);
    this.endOfTime =
        new EndOfTimeGate(state.timers(), watermarks(), statistics(), time.drivenByStreams());
    this.expiry = new WindowExpiry(step.spec(), state.timers());
    this.sorting = step.timeSorted() ? new TimeSorting(step, watermarks()) : null;
  }

  @Override
  public Work startOfEpoch() {
    return new DueTimers(state.timers(), watermarks(), this::fire);
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    ByteInput bytes = record.bytes();
    byte[] keyBytes = bytes.readBytes(bytes.readLength());
    Instant timestamp = Instant.ofEpochMilli(bytes.readLong());
    PaneInfo pane = PaneInfoCoder.INSTANCE.decode(bytes);
    statistics().addRowsIn(1);
    readOpenWindows(record, windowCoder, watermarks().inputWatermark(), 1, recordWindows);
    if (sorting != null && sorting.isLate(timestamp)) {
      drop(recordWindows.size());
      recordWindows.clear();
    }
    int length = bytes.readLength();
    if (!recordWindows.isEmpty()) {
      input.reset(bytes.array(), bytes.position(), length);
      Object value = valueCoder.decode(input);
      KeyState<Object> key = state.forKey(keyBytes);
      KV<Object, Object> pair = KV.of(key.key(), value);
      for (BoundedWindow window : recordWindows) {
        WindowedValue<Object> element = WindowedValues.of(pair, timestamp, window, pane);
        if (admits(element)) {
          add(keyBytes, key, window, element);
        }
      }
    }
    bytes.seek(bytes.position() + length);
  }

  @Override
  void advanceInput(long watermarkMillis) {
    endOfTime.advanceInput(watermarkMillis);
  }

  @Override
  Work afterWatermark() {
    return new DueTimers(state.timers(), watermarks(), this::fire);
  }

  @Override
  long endEpoch() {
    statistics().setEarliestProcessingTimer(DueTimers.earliestByProcessingTime(state.timers()));
    return state.holds().earliest();
  }

  @Override
  void flushState(StepRows ofStep) {
    state.flush();
  }

  @Override
  void processReleased(WindowedValue<Object> element) {
    Object key = ((KV<?, ?>) element.getValue()).getKey();
    byte[] keyBytes = Encoding.key(step().fullName(), keyCoder, key);
    BoundedWindow window = element.getWindows().iterator().next();
    add(keyBytes, state.forKey(keyBytes), window, element);
  }

  private void add(
      byte[] keyBytes, KeyState<Object> key, BoundedWindow window, WindowedValue<Object> element) {
    expiry.schedule(keyBytes, key, window);
    if (sorting == null) {
      process(key, element);
    } else {
      sorting.add(key, window, element);
    }
  }

  private void process(KeyState<Object> key, WindowedValue<Object> element) {
    doFn().context().bind(key.stateInternals(), key.timerInternals());
    doFn().processElement(element);
  }

  private void fire(FiredTimer fired) {
    endOfTime.firing(fired.timer());
    KeyState<Object> key = state.forKey(fired.key());
    TimerData timer = fired.timer();
    BoundedWindow window = ((WindowNamespace<?>) timer.getNamespace()).getWindow();
    if (sorting != null && sorting.isFlush(timer)) {
      for (WindowedValue<Object> element : sorting.takeReady(key, window)) {
        process(key, element);
      }
      sorting.scheduleNext(key, window);
    } else if (expiry.isExpiry(timer)) {
      if (expiry.isObserved()) {
        call(key, timer, window);
      }
      expiry.clear(fired.key(), key, window);
    } else {
      call(key, timer, window);
    }
  }

  /** Calls the DoFn for a timer of its own, or for the expiry of a window. */
  private void call(KeyState<Object> key, TimerData timer, BoundedWindow window) {
    boolean expires = expiry.isExpiry(timer);
    MetricsContainer outer = doFn().enter();
    try {
      doFn().context().bind(key.stateInternals(), key.timerInternals());
      if (expires) {
        doFn().runner().onWindowExpiration(window, timer.getOutputTimestamp(), key.key());
      } else {
        doFn().runner()
            .onTimer(
                timer.getTimerId(),
                timer.getTimerFamilyId(),
                key.key(),
                window,
                timer.getTimestamp(),
                timer.getOutputTimestamp(),
                timer.getDomain(),
                timer.causedByDrain());
      }
    } catch (UserCodeException e) {
      throw doFn()
          .failure(
              expires
                  ? "calling @OnWindowExpiration"
                  : "firing the timer " + timer.getTimerId(),
              e);
    } finally {
      doFn().leave(outer);
    }
  }
}
