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
import java.util.Arrays;
import java.util.List;
import org.apache.beam.runners.core.LateDataUtils;
import org.apache.beam.runners.core.ReduceFnRunner;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.core.StateNamespaces.WindowNamespace;
import org.apache.beam.runners.core.TimerInternals.TimerData;
import org.apache.beam.runners.core.UnsupportedSideInputReader;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.core.triggers.ExecutableTriggerStateMachine;
import org.apache.beam.runners.core.triggers.TriggerStateMachines;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.FiredTimer;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.KeyState;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateMemory;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepStateContext;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.util.construction.TriggerTranslation;
import org.apache.beam.sdk.values.CausedByDrain;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.joda.time.Instant;

/**
 * Gathers or combines by key under any windowing: merging windows, every trigger, accumulating
 * panes. The panes are those of runners-core's {@link ReduceFnRunner} on this runner's state and
 * timers.
 *
 * <p>Elements of a key are collected until the last element is received, in their order, and given
 * to it in one call, so that a key is read and written once an epoch; a limit of memory ends the
 * collecting earlier. Timers fire as {@link DueTimers} says. They hold no watermark: an element that
 * waits for a pane holds it by {@code ReduceFnRunner}'s own holds, which are state. The end of time
 * comes as {@link EndOfTimeGate} says.
 */
final class ReduceFnStepRunner extends KeyedStepRunner {
  private static final byte WATERMARKS = StepWatermarks.engineKind(2);
  private static final long MAX_COLLECTED_BYTES = Math.min(32L << 20, StateMemory.limitBytes());

  /** What an element weighs beyond its encoded value: it is decoded, and has a window of its own. */
  private static final int ELEMENT_OVERHEAD = 200;

  private static final int MAX_LIVE_KEYS = 10_000;

  private final StepRows rows;
  private final StepWatermarks watermarks;
  private final StepStateContext<Object> state;
  private final EndOfTimeGate endOfTime;
  private final PipelineOptions options;
  private final WindowingStrategy<Object, BoundedWindow> windowing;
  private final ReducedValues values;
  private final ExecutableTriggerStateMachine trigger;
  private final Coder<BoundedWindow> windowCoder;
  private final KeyTable<Collected> collected = new KeyTable<>(Collected::new);
  private final ByteInput input = new ByteInput();
  private final List<BoundedWindow> recordWindows = new ArrayList<>();
  private long collectedBytes;

  /**
   * Fires the timers of a key that follow each other. Windows that merge are one value of a key, which every
   * runner reads and writes: a runner for each timer would take the square of the number of windows.
   */
  private ReduceFnRunner<Object, Object, Object, BoundedWindow> firing;

  private byte[] firingKey;

  /** The elements of one key, one for each of their windows. */
  private static final class Collected extends PaneEntry {
    private final List<WindowedValue<Object>> elements = new ArrayList<>();

    Collected(byte[] key, int hash) {
      super(key, hash);
    }
  }

  @SuppressWarnings("unchecked") // keys, values and windows are untyped between steps
  ReduceFnStepRunner(
      KeyedStep step,
      ElementReceiver output,
      MetricsContainerImpl container,
      StepRows rows,
      PipelineOptions options,
      EpochTime time) {
    super(step, output, container);
    this.rows = rows;
    this.options = options;
    this.windowing = (WindowingStrategy<Object, BoundedWindow>) step.windowingStrategy();
    this.windowCoder = step.input().windowCoder();
    this.watermarks = new StepWatermarks(rows, WATERMARKS, time.millis());
    this.state =
        StepStateContext.withoutTimerHolds(
            rows, (Coder<Object>) step.keyCoder(), windowCoder, watermarks, MAX_LIVE_KEYS);
    this.endOfTime =
        new EndOfTimeGate(state.timers(), watermarks, statistics(), time.drivenByStreams());
    this.values = ReducedValues.of(step);
    this.trigger =
        ExecutableTriggerStateMachine.create(
            TriggerStateMachines.stateMachineForTrigger(
                TriggerTranslation.toProto(windowing.getTrigger())));
  }

  @Override
  public Work startOfEpoch() {
    return new DueTimers(state.timers(), watermarks, this::fire);
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    ByteInput bytes = record.bytes();
    int keyLength = bytes.readLength();
    int keyOffset = bytes.position();
    bytes.seek(keyOffset + keyLength);
    Instant timestamp = Instant.ofEpochMilli(bytes.readLong());
    long elements = bytes.readVarLong();
    statistics().addRowsIn(elements);
    readOpenWindows(record, windowCoder, watermarks.inputWatermark(), elements, recordWindows);
    int length = bytes.readLength();
    if (!recordWindows.isEmpty()) {
      input.reset(bytes.array(), bytes.position(), length);
      Object value = values.decode(input);
      Collected ofKey = collected.findOrCreate(bytes.array(), keyOffset, keyLength);
      for (BoundedWindow window : recordWindows) {
        ofKey.elements.add(WindowedValues.of(value, timestamp, window, PaneInfo.NO_FIRING));
      }
      collectedBytes += keyLength + (long) (length + ELEMENT_OVERHEAD) * recordWindows.size();
    }
    bytes.seek(bytes.position() + length);
    if (collectedBytes > MAX_COLLECTED_BYTES) {
      endOfElements().complete();
    }
  }

  @Override
  public Work endOfElements() {
    return Work.sequence(
        Work.each(collected.entries(), this::process),
        Work.once(
            () -> {
              collected.clear();
              collectedBytes = 0;
            }));
  }

  @Override
  public Work advanceWatermark(long watermarkMillis) {
    endOfTime.advanceInput(watermarkMillis);
    return new DueTimers(state.timers(), watermarks, this::fire);
  }

  @Override
  public long finish() {
    endFiring();
    long out = watermarks.release(state.holds().earliest());
    watermarks.flush();
    state.flush();
    statistics().setState(rows.rows(), rows.bytes());
    statistics().setWatermarks(watermarks.inputWatermark(), out);
    statistics().setEarliestProcessingTimer(DueTimers.earliestByProcessingTime(state.timers()));
    return out;
  }

  private void process(Collected ofKey) {
    try {
      endFiring();
      KeyState<Object> key = state.forKey(ofKey.key());
      ReduceFnRunner<Object, Object, Object, BoundedWindow> runner = runner(key);
      runner.processElements(ofKey.elements);
      runner.persist();
    } catch (Exception e) {
      throw failure("adding elements", e);
    }
  }

  private void fire(FiredTimer fired) {
    endOfTime.firing(fired.timer());
    try {
      if (!Arrays.equals(firingKey, fired.key())) {
        endFiring();
      }
      KeyState<Object> key = state.forKey(fired.key());
      deleteTimersOfExpired(key, fired.timer());
      if (firing == null) {
        firing = runner(key);
        firingKey = fired.key();
      }
      firing.onTimers(List.of(fired.timer()));
    } catch (Exception e) {
      throw failure("firing the timer of " + fired.timer().getTimestamp(), e);
    }
  }

  /** Writes back what the timers of a key have changed, before anything is done with another key. */
  private void endFiring() {
    if (firing != null) {
      firing.persist();
      firing = null;
      firingKey = null;
    }
  }

  /**
   * When the watermark passes a window's end and its expiry at once, both timers are due, and the
   * first does all there is to do. The other must not come behind it in a call of its own: to
   * ReduceFnRunner it would be a window without elements whose pane on time is still to be emitted.
   */
  private void deleteTimersOfExpired(KeyState<Object> key, TimerData fired) {
    BoundedWindow window = ((WindowNamespace<?>) fired.getNamespace()).getWindow();
    Instant expiry = LateDataUtils.garbageCollectionTime(window, windowing.getAllowedLateness());
    if (expiry.getMillis() < watermarks.inputWatermark()) {
      deleteTimer(key, fired.getNamespace(), window.maxTimestamp());
      deleteTimer(key, fired.getNamespace(), expiry);
    }
  }

  private static void deleteTimer(
      KeyState<Object> key, StateNamespace namespace, Instant timestamp) {
    // The id that runners-core gives to the timers of a window.
    TimerData timer =
        TimerData.of(
            namespace, timestamp, timestamp, TimeDomain.EVENT_TIME, CausedByDrain.NORMAL);
    key.timerInternals()
        .deleteTimer(namespace, timer.getTimerId(), timer.getTimerFamilyId(), timer.getDomain());
  }

  private ReduceFnRunner<Object, Object, Object, BoundedWindow> runner(KeyState<Object> key) {
    return new ReduceFnRunner<>(
        key.key(),
        windowing,
        trigger,
        key.stateInternals(),
        key.timerInternals(),
        this::emitPane,
        new UnsupportedSideInputReader(step().fullName()),
        values.reduceFn(),
        options);
  }

  @SuppressWarnings("unchecked") // elements are untyped between steps
  private void emitPane(WindowedValue<KV<Object, Object>> pane) {
    emit((WindowedValue<Object>) (WindowedValue<?>) pane);
  }
}
