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
import org.apache.beam.runners.core.KeyedWorkItem;
import org.apache.beam.runners.core.KeyedWorkItems;
import org.apache.beam.runners.core.NullSideInputReader;
import org.apache.beam.runners.core.SideInputReader;
import org.apache.beam.runners.core.SplittableParDoViaKeyedWorkItems.ProcessFn;
import org.apache.beam.runners.core.StateNamespaces.WindowNamespace;
import org.apache.beam.runners.core.TimerInternals.TimerData;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LiveDoFn;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.FiredTimer;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.HoldIndex;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.KeyState;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepStateContext;
import org.apache.beam.runners.spark.structuredstreaming.translation.SplittableParDoStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.PaneInfo.PaneInfoCoder;
import org.apache.beam.sdk.util.UserCodeException;
import org.apache.beam.sdk.values.CausedByDrain;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues;
import org.joda.time.Instant;

/**
 * Runs a splittable DoFn: runners-core's {@link ProcessFn} on this step's state, with resumptions as
 * timers by processing time.
 *
 * <p>An element takes one <em>turn</em> in the epoch it comes in, and one in every epoch in which its
 * resumption is due. A turn is a call of the DoFn, and further calls at once while the last one left
 * something to be resumed without delay, has output something, and the epoch's {@link TurnBudget} is
 * not spent. With {@code now} the epoch's processing time:
 *
 * <ul>
 *   <li>what is to be resumed after a delay is due in the first epoch with {@code now > time of the
 *       call + delay};
 *   <li>what is to be resumed without delay is due in the next epoch, also where the clock of a
 *       {@code TestStream} stands still: its timer is set to {@code now - 1}. That epoch begins at
 *       once, unless the last call output nothing: such a DoFn polls something that has nothing to
 *       give, and is asked again as often as a source that has nothing is;
 *   <li>when the budget is spent, resumptions that are due wait for the next epoch, the one due for
 *       the longest time first; but one is always taken up, and every element that comes is called.
 * </ul>
 *
 * <p>Watermark: {@code out = max(out, min(in, earliest watermark of what is left))}, where that of an
 * element's rest is what its watermark estimator said before the rest was split off, or the element's
 * timestamp. While there is anything left, {@code out} stays before the end of time, whatever the
 * estimators say: the pipeline is not at its end. Elements are never too late for a splittable DoFn.
 *
 * <p>In an epoch that drains, every element that comes is truncated before its first turn, and so is
 * what was left of any before its next one, once, whatever delay it was to be resumed after. A rest
 * that was truncated is told from one that was not by the kind of its timer: synchronized processing
 * time, which here is the same clock. What is left of it goes on like any other.
 *
 * <p>What is left of each element at the end of its turn has a size, if the DoFn gives one: see {@link
 * RestBacklog}. Elements that wait for their first turn have none.
 *
 * <p>With side inputs, an element waits for its first turn as {@link WaitingElements} says, and the
 * views keep what it may read until it is finished.
 */
final class SplittableParDoRunner extends KeyedParDoRunner {
  private static final byte WATERMARKS = StepWatermarks.engineKind(0);
  private static final byte UNFINISHED = StepWatermarks.engineKind(1);
  private static final byte UNFINISHED_BUCKETS = StepWatermarks.engineKind(2);
  private static final byte BACKLOG = StepWatermarks.engineKind(3);
  private static final int MAX_LIVE_KEYS = 10_000;
  private static final long END_OF_TIME = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();
  private static final long BEFORE_THE_END = END_OF_TIME - 1;

  /** Of the timers of rests that were not truncated, and of those that were. */
  private static final TimeDomain WHOLE = TimeDomain.PROCESSING_TIME;

  private static final TimeDomain TRUNCATED = TimeDomain.SYNCHRONIZED_PROCESSING_TIME;

  private final StepStateContext<byte[]> state;
  private final Coder<byte[]> keyCoder;
  private final Coder<Object> valueCoder;
  private final Coder<BoundedWindow> windowCoder;
  private final TurnBudget budget;
  private final boolean draining;
  private final ResumeTimer resumeTimer;
  private final SideInputReader sideInputReader;
  private final SplittableInvoker invoker;
  private final RestBacklog backlog;
  // The ends of the windows of elements that are not finished; null if the step reads no side inputs.
  private final HoldIndex unfinishedEnds;
  private final ByteInput input = new ByteInput();
  private final List<Resumption> resumptions = new ArrayList<>();
  private final List<Resumption> polls = new ArrayList<>();
  private KeyState<byte[]> current;
  private boolean bound;
  private boolean fired;

  /** A timer that is set at the epoch's end, so that it does not fire in it. */
  private static final class Resumption {
    private final byte[] keyBytes;
    private final TimerData timer;

    Resumption(byte[] keyBytes, TimerData timer) {
      this.keyBytes = keyBytes;
      this.timer = timer;
    }
  }

  @SuppressWarnings("unchecked") // keys, values and windows are untyped between steps
  SplittableParDoRunner(
      SplittableParDoStep step,
      LiveDoFn doFn,
      MetricsContainerImpl container,
      StepRows rows,
      PipelineOptions options,
      SideInputs sideInputs,
      EpochTime time,
      TurnBudget budget) {
    super(step, doFn, container, rows, sideInputs, WATERMARKS, time.millis());
    this.budget = budget;
    this.draining = time.draining();
    this.keyCoder = (Coder<byte[]>) step.keyCoder();
    this.valueCoder = (Coder<Object>) step.valueCoder();
    this.windowCoder = step.input().windowCoder();
    this.state =
        StepStateContext.withoutTimerHolds(
            rows, keyCoder, windowCoder, watermarks(), MAX_LIVE_KEYS);
    this.resumeTimer = new ResumeTimer(watermarks());
    if (sideInputs() == null) {
      this.unfinishedEnds = null;
      this.sideInputReader = NullSideInputReader.empty();
    } else {
      this.unfinishedEnds = new HoldIndex(rows, UNFINISHED, UNFINISHED_BUCKETS);
      this.sideInputReader = sideInputs();
      sideInputs().addConsumer(unfinishedEnds::earliest);
    }
    this.invoker = new SplittableInvoker(step, doFn, options, budget, sideInputReader, draining);
    this.backlog = new RestBacklog(rows, BACKLOG, invoker.givesSizes());
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    ByteInput bytes = record.bytes();
    byte[] keyBytes = bytes.readBytes(bytes.readLength());
    Instant timestamp = Instant.ofEpochMilli(bytes.readLong());
    PaneInfo pane = PaneInfoCoder.INSTANCE.decode(bytes);
    int windows = bytes.readVarInt();
    if (windows != 1) {
      throw new IllegalStateException("An element in one window expected, found " + windows);
    }
    BoundedWindow window = record.readWindow(windowCoder).window();
    int length = bytes.readLength();
    input.reset(bytes.array(), bytes.position(), length);
    Object value = valueCoder.decode(input);
    bytes.seek(bytes.position() + length);
    statistics().addRowsIn(1);
    KV<byte[], Object> pair = KV.of(state.forKey(keyBytes).key(), value);
    WindowedValue<Object> element = WindowedValues.of(pair, timestamp, window, pane);
    if (admits(element)) {
      processReleased(element);
    }
  }

  @Override
  Work afterWatermark() {
    return this::resumeNext;
  }

  @Override
  long endEpoch() {
    setTimers(resumptions);
    if (isAnyDue()) {
      statistics().setPending();
    }
    statistics().setEarliestProcessingTimer(DueTimers.earliestByProcessingTime(state.timers()));
    statistics().setBacklog(backlog.total());
    setTimers(polls);
    boolean unfinished = DueTimers.earliestByProcessingTime(state.timers()) != Long.MAX_VALUE;
    long hold = state.holds().earliest();
    return unfinished ? Math.min(hold, BEFORE_THE_END) : hold;
  }

  @Override
  void flushState(StepRows ofStep) {
    if (unfinishedEnds != null) {
      unfinishedEnds.flush();
    }
    backlog.flush();
    state.flush();
  }

  /** The first turn of an element. */
  @Override
  @SuppressWarnings("unchecked") // made by the expansion of a splittable ParDo
  void processReleased(WindowedValue<Object> element) {
    KV<byte[], KV<Object, Object>> pair = (KV<byte[], KV<Object, Object>>) element.getValue();
    byte[] keyBytes = Encoding.key(step().fullName(), keyCoder, pair.getKey());
    current = state.forKey(keyBytes);
    boolean left =
        takeTurn(
            keyBytes,
            draining,
            KeyedWorkItems.elementsWorkItem(
                current.key(), List.of(element.withValue(pair.getValue()))));
    if (left && unfinishedEnds != null) {
      unfinishedEnds.add(endMillis(element.getWindows().iterator().next()));
    }
  }

  private static long endMillis(BoundedWindow window) {
    return window.maxTimestamp().getMillis();
  }

  /** A further turn of the element that was due first. */
  private boolean resumeNext() {
    if (fired && budget.isSpent()) {
      return false;
    }
    FiredTimer due = state.nextDue(WHOLE, draining ? END_OF_TIME : watermarks().processingTime());
    boolean truncates = draining && due != null;
    if (due == null) {
      due = state.nextDue(TRUNCATED, watermarks().processingTime());
    }
    if (due == null) {
      return false;
    }
    fired = true;
    current = state.forKey(due.key());
    backlog.take(current.stateInternals(), due.timer().getNamespace());
    boolean left = takeTurn(due.key(), truncates, resumption(due.timer()));
    if (!left && unfinishedEnds != null) {
      unfinishedEnds.release(
          endMillis(((WindowNamespace<?>) due.timer().getNamespace()).getWindow()));
    }
    return true;
  }

  private KeyedWorkItem<byte[], KV<Object, Object>> resumption(TimerData timer) {
    return KeyedWorkItems.timersWorkItem(current.key(), List.of(timer));
  }

  /** Whether there is anything left behind the turn. */
  private boolean takeTurn(
      byte[] keyBytes, boolean truncates, KeyedWorkItem<byte[], KV<Object, Object>> first) {
    budget.start();
    if (truncates) {
      invoker.truncateNext();
    }
    call(first);
    while (true) {
      long outputs = doFn().takeOutputs();
      statistics().addRowsOut(outputs);
      budget.spend(outputs);
      TimerData next = resumeTimer.take();
      if (next == null) {
        return false;
      }
      if (next.getTimestamp().getMillis() > watermarks().processingTime()) {
        state.timers().set(keyBytes, resumingAt(next.getTimestamp(), next));
        backlog.leave(current.stateInternals(), next.getNamespace(), sizeOfRest());
        return true;
      }
      if (outputs == 0 || budget.isSpent()) {
        (outputs == 0 ? polls : resumptions)
            .add(new Resumption(keyBytes, dueInAnyLaterEpoch(next)));
        backlog.leave(current.stateInternals(), next.getNamespace(), sizeOfRest());
        return true;
      }
      call(resumption(next));
    }
  }

  private TimerData dueInAnyLaterEpoch(TimerData timer) {
    return resumingAt(Instant.ofEpochMilli(watermarks().processingTime() - 1), timer);
  }

  private TimerData resumingAt(Instant time, TimerData timer) {
    TimeDomain domain = draining ? TRUNCATED : WHOLE;
    return TimerData.of(timer.getNamespace(), time, time, domain, CausedByDrain.NORMAL);
  }

  private void call(KeyedWorkItem<byte[], KV<Object, Object>> item) {
    MetricsContainer outer = doFn().enter();
    try {
      bind();
      doFn().runner().processElement(WindowedValues.valueInGlobalWindow(item));
    } catch (UserCodeException e) {
      throw doFn().failure("processing an element and its restriction", e);
    } finally {
      doFn().leave(outer);
    }
  }

  private long sizeOfRest() {
    MetricsContainer outer = doFn().enter();
    try {
      return invoker.sizeOfRest();
    } catch (RuntimeException e) {
      throw doFn().failure(
          "asking for the size of what is left of a restriction", UserCodeException.wrap(e));
    } finally {
      doFn().leave(outer);
    }
  }

  /** Gives the DoFn, which lives across epochs, the state of this one. */
  @SuppressWarnings("unchecked") // the step's DoFn is one of these
  private void bind() {
    if (!bound) {
      ProcessFn<Object, Object, Object, Object, Object> processFn =
          (ProcessFn<Object, Object, Object, Object, Object>) (Object) doFn().runner().getFn();
      processFn.setStateInternalsFactory(key -> current.stateInternals());
      processFn.setTimerInternalsFactory(key -> resumeTimer);
      processFn.setSideInputReader(sideInputReader);
      processFn.setProcessElementInvoker(invoker);
      bound = true;
    }
  }

  private void setTimers(List<Resumption> due) {
    for (Resumption resumption : due) {
      state.timers().set(resumption.keyBytes, resumption.timer);
    }
    due.clear();
  }

  private boolean isAnyDue() {
    long now = watermarks().processingTime();
    return state.timers().firstDue(WHOLE, draining ? END_OF_TIME : now) != Long.MAX_VALUE
        || state.timers().firstDue(TRUNCATED, now) != Long.MAX_VALUE;
  }
}
