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
import java.util.List;
import org.apache.beam.runners.core.LateDataDroppingDoFnRunner;
import org.apache.beam.runners.core.LateDataUtils;
import org.apache.beam.runners.core.metrics.CounterCell;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.TaskMetrics;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.metrics.MetricName;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.WindowedValue;
import org.joda.time.Duration;

/**
 * Runs one keyed step in one partition for one epoch. Made anew for every epoch and attempt; all
 * that outlives it is in the state store.
 *
 * <p>Order of calls, by the task: {@link #startOfEpoch} and its work to the end, {@link #receive}
 * for every record, {@link #endOfElements} and its work to the end, {@link #advanceWatermark} once
 * and its work to the end, {@link #finishBundle}, {@link #finish}.
 *
 * <p>With {@code in(e)} and {@code out(e)} the watermarks at the end of epoch {@code e}: timers due
 * by the processing time of epoch {@code e} fire and then its elements are processed against {@code
 * in(e-1)}; then {@code in(e) = max(in(e-1), min over senders)}; then what became due fires; then
 * {@code out(e) = max(out(e-1), min(in(e), earliest hold))}.
 */
public abstract class KeyedStepRunner {
  private final KeyedStep step;
  private final ElementReceiver output;
  private final StepStatistics statistics;
  private final MetricsContainerImpl container;
  private CounterCell dropped;

  /**
   * @param output where the step's output goes
   * @param container the metrics of this step in this epoch
   */
  KeyedStepRunner(KeyedStep step, ElementReceiver output, MetricsContainerImpl container) {
    this.step = step;
    this.output = output;
    this.container = container;
    this.statistics = new StepStatistics(step.index());
  }

  public final KeyedStep step() {
    return step;
  }

  public final StepStatistics statistics() {
    return statistics;
  }

  /** The container that must be current while this runner works. */
  public final MetricsContainerImpl container() {
    return container;
  }

  /**
   * Fires what is due by the epoch's processing time before anything is received, as what is
   * received comes at that time and not before it.
   */
  public Work startOfEpoch() {
    return Work.NONE;
  }

  /** Takes one element record, standing at its body, and reads it to its end. */
  public abstract void receive(RecordInput record) throws IOException;

  /** What is to be done when the last element is received, still before the watermark moves. */
  public abstract Work endOfElements();

  /**
   * Moves the input watermark and fires what is due by it.
   *
   * @param watermarkMillis the least watermark of all senders; one behind the current is ignored
   */
  public abstract Work advanceWatermark(long watermarkMillis);

  /** Ends the bundle of the step's DoFn, where it has one: the last it outputs in the epoch. */
  public void finishBundle() {}

  /**
   * Writes what the epoch changed to the state's rows.
   *
   * @return the output watermark in millis
   */
  public abstract long finish();

  /** Counts what the epoch has output to {@code output}, of steps that output by this class. */
  public void countElements(PlanCollection output, TaskMetrics metrics) {
    metrics.countElements(step.fullName(), output, statistics.rowsOut());
  }

  final void emit(WindowedValue<Object> element) {
    statistics.addRowOut();
    output.accept(element);
  }

  /**
   * Reads a record's windows; the elements of the record are dropped in those that have expired.
   *
   * @param elements how many elements the record is for
   * @param open takes the windows that have not expired, in place of what it had
   */
  final void readOpenWindows(
      RecordInput record,
      Coder<BoundedWindow> windowCoder,
      long inputWatermark,
      long elements,
      List<BoundedWindow> open)
      throws IOException {
    open.clear();
    Duration lateness = step.windowingStrategy().getAllowedLateness();
    int count = record.bytes().readVarInt();
    for (int i = 0; i < count; i++) {
      BoundedWindow window = record.readWindow(windowCoder).window();
      if (LateDataUtils.garbageCollectionTime(window, lateness).getMillis() < inputWatermark) {
        drop(elements);
      } else {
        open.add(window);
      }
    }
  }

  /** Counts elements that are dropped because their window has expired. */
  final void drop(long elements) {
    if (dropped == null) {
      dropped =
          container.getCounter(
              MetricName.named(
                  LateDataDroppingDoFnRunner.class,
                  LateDataDroppingDoFnRunner.DROPPED_DUE_TO_LATENESS));
    }
    dropped.inc(elements);
    statistics.addLateRows(elements);
  }

  /** The failure of this step, or of one behind it where that is what {@code cause} is. */
  public final StepFailedException failure(String doing, Throwable cause) {
    return StepFailedException.of(step.fullName(), doing, cause);
  }
}
