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
import java.util.Objects;
import org.apache.beam.runners.core.LateDataUtils;
import org.apache.beam.runners.core.StateNamespaces.WindowNamespace;
import org.apache.beam.runners.core.TimerInternals.TimerData;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LiveDoFn;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.ByteOutput;
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
import org.apache.beam.sdk.values.WindowingStrategy;
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
 *   <li>One millisecond behind {@code gc(w)}, and so behind all event time timers of {@code w}, the
 *       window expires for a key that had elements in it: {@code @OnWindowExpiration} is called, then
 *       state and timers of key and window are gone. Where there is such a method, the window's end
 *       holds the output watermark until then.
 * </ul>
 *
 * <p>Runners-core's StatefulDoFnRunner is not used for this: it refuses windows that have been merged
 * before, sets a timer with every element, and sorts by reading all that is buffered.
 */
final class StatefulParDoRunner extends KeyedStepRunner {
  private static final byte WATERMARKS = StepWatermarks.engineKind(3);
  private static final int MAX_LIVE_KEYS = 10_000;

  private final LiveDoFn doFn;
  private final StepRows rows;
  private final StepWatermarks watermarks;
  private final StepStateContext<Object> state;
  private final WindowingStrategy<?, ?> windowing;
  private final Coder<Object> keyCoder;
  private final Coder<Object> valueCoder;
  private final Coder<BoundedWindow> windowCoder;
  private final WindowExpiry expiry;
  private final TimeSorting sorting;
  private final WaitingElements waiting;
  private final ByteInput input = new ByteInput();
  private final List<BoundedWindow> recordWindows = new ArrayList<>();

  @SuppressWarnings("unchecked") // keys, values and windows are untyped between steps
  StatefulParDoRunner(
      StatefulParDoStep step,
      LiveDoFn doFn,
      MetricsContainerImpl container,
      StepRows rows,
      SideInputs sideInputs,
      long processingTimeMillis) {
    super(step, element -> {}, container);
    this.doFn = Objects.requireNonNull(doFn, "doFn");
    this.rows = rows;
    this.windowing = step.windowingStrategy();
    this.keyCoder = (Coder<Object>) step.keyCoder();
    this.valueCoder = (Coder<Object>) step.valueCoder();
    this.windowCoder = step.input().windowCoder();
    this.watermarks = new StepWatermarks(rows, WATERMARKS, processingTimeMillis);
    this.state =
        new StepStateContext<>(
            rows, keyCoder, windowCoder, watermarks, MAX_LIVE_KEYS);
    this.expiry = new WindowExpiry(doFn.spec(), state.timers());
    this.sorting = step.timeSorted() ? new TimeSorting(step, watermarks) : null;
    this.waiting = waiting(step, sideInputs);
  }

  /** Null if the step reads no side inputs: nothing waits then. */
  private WaitingElements waiting(StatefulParDoStep step, SideInputs sideInputs) {
    if (step.spec().sideInputs().isEmpty()) {
      return null;
    }
    StepSideInputs ofStep = sideInputs.of(step, step.spec().sideInputs().values(), watermarks);
    doFn.context().bindSideInputs(ofStep);
    return new WaitingElements(rows, step.input(), ofStep);
  }

  @Override
  public Work startOfEpoch() {
    return new DueTimers(state.timers(), watermarks, this::fire);
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    ByteInput bytes = record.bytes();
    byte[] keyBytes = bytes.readBytes(bytes.readLength());
    Instant timestamp = Instant.ofEpochMilli(bytes.readLong());
    PaneInfo pane = PaneInfoCoder.INSTANCE.decode(bytes);
    statistics().addRowsIn(1);
    readWindows(record, timestamp);
    int length = bytes.readLength();
    if (!recordWindows.isEmpty()) {
      input.reset(bytes.array(), bytes.position(), length);
      Object value = valueCoder.decode(input);
      KeyState<Object> key = state.forKey(keyBytes);
      KV<Object, Object> pair = KV.of(key.key(), value);
      for (BoundedWindow window : recordWindows) {
        offer(keyBytes, key, window, WindowedValues.of(pair, timestamp, window, pane));
      }
    }
    bytes.seek(bytes.position() + length);
  }

  @Override
  public Work endOfElements() {
    return Work.NONE;
  }

  @Override
  public Work advanceWatermark(long watermarkMillis) {
    Work timers = new DueTimers(state.timers(), watermarks, this::fire);
    if (waiting == null) {
      watermarks.advanceInput(watermarkMillis);
      return timers;
    }
    return Work.sequence(
        waiting.release(this::addReleased, late -> drop(1)),
        Work.once(() -> watermarks.advanceInput(waiting.held(watermarkMillis))),
        timers);
  }

  @Override
  public void finishBundle() {
    doFn.finishBundle();
  }

  @Override
  public long finish() {
    long out = watermarks.release(state.holds().earliest());
    if (waiting != null) {
      waiting.flush();
    }
    watermarks.flush();
    state.flush();
    statistics().addRowsOut(doFn.takeOutputs());
    statistics().setState(rows.rows(), rows.bytes());
    statistics().setWatermarks(watermarks.inputWatermark(), out);
    statistics().setEarliestProcessingTimer(DueTimers.earliestByProcessingTime(state.timers()));
    return out;
  }

  /** Adds the element, unless it has to wait for side inputs or has lost them. */
  private void offer(
      byte[] keyBytes, KeyState<Object> key, BoundedWindow window, WindowedValue<Object> element) {
    StepSideInputs.State readiness =
        waiting == null ? StepSideInputs.State.READY : waiting.offer(element);
    if (readiness == StepSideInputs.State.READY) {
      add(keyBytes, key, window, element);
    } else if (readiness == StepSideInputs.State.COLLECTED) {
      drop(1);
    }
  }

  private void addReleased(WindowedValue<Object> element) {
    Object key = ((KV<?, ?>) element.getValue()).getKey();
    try {
      ByteOutput keyBytes = new ByteOutput(64);
      keyCoder.encode(key, keyBytes);
      byte[] bytes = keyBytes.toByteArray();
      BoundedWindow window = element.getWindows().iterator().next();
      add(bytes, state.forKey(bytes), window, element);
    } catch (IOException e) {
      throw failure("encoding a key with " + keyCoder, e);
    }
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
    MetricsContainer outer = doFn.enter();
    try {
      doFn.context().bind(key.stateInternals(), key.timerInternals());
      doFn.runner().processElement(element);
    } catch (UserCodeException e) {
      throw doFn.failure("processing an element", e);
    } finally {
      doFn.leave(outer);
    }
  }

  private void fire(FiredTimer fired) {
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
        call(key, timer, window, "calling @OnWindowExpiration");
      }
      expiry.clear(fired.key(), key, window);
    } else {
      call(key, timer, window, "firing the timer " + timer.getTimerId());
    }
  }

  /** Calls the DoFn for a timer of its own, or for the expiry of a window. */
  private void call(KeyState<Object> key, TimerData timer, BoundedWindow window, String doing) {
    MetricsContainer outer = doFn.enter();
    try {
      doFn.context().bind(key.stateInternals(), key.timerInternals());
      if (expiry.isExpiry(timer)) {
        doFn.runner().onWindowExpiration(window, timer.getOutputTimestamp(), key.key());
      } else {
        doFn.runner()
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
      throw doFn.failure(doing, e);
    } finally {
      doFn.leave(outer);
    }
  }

  /** Reads the record's windows and keeps those in which the element is not too late. */
  private void readWindows(RecordInput record, Instant timestamp) throws IOException {
    recordWindows.clear();
    boolean unsortable = sorting != null && sorting.isLate(timestamp);
    int count = record.bytes().readVarInt();
    for (int i = 0; i < count; i++) {
      BoundedWindow window = record.readWindow(windowCoder).window();
      long gc =
          LateDataUtils.garbageCollectionTime(window, windowing.getAllowedLateness()).getMillis();
      if (gc < watermarks.inputWatermark() || unsortable) {
        drop(1);
      } else {
        recordWindows.add(window);
      }
    }
  }
}
