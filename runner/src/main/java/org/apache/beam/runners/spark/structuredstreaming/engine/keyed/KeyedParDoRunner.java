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

import java.util.Objects;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LiveDoFn;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.TaskMetrics;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.sdk.values.WindowedValue;

/**
 * What the runners of DoFns behind a shuffle have in common: the bundle, the elements that wait for
 * side inputs, and the order in which an epoch ends.
 *
 * <p>When the last element is received: what waited and need not any more is processed; then the input
 * watermark moves as far as what still waits allows; then the step does what is due by it.
 */
abstract class KeyedParDoRunner extends KeyedStepRunner {
  private final LiveDoFn doFn;
  private final StepRows rows;
  private final StepWatermarks watermarks;
  // Both null if the step reads no side inputs: nothing waits then.
  private final StepSideInputs sideInputs;
  private final WaitingElements waiting;

  /**
   * @param ofLevel the views of the level
   * @param watermarksKind kind of the row of the step's watermarks
   */
  KeyedParDoRunner(
      KeyedParDoStep step,
      LiveDoFn doFn,
      MetricsContainerImpl container,
      StepRows rows,
      SideInputs ofLevel,
      byte watermarksKind,
      long processingTimeMillis) {
    super(step, element -> {}, container);
    this.doFn = Objects.requireNonNull(doFn, "doFn");
    this.rows = rows;
    this.watermarks = new StepWatermarks(rows, watermarksKind, processingTimeMillis);
    if (step.spec().sideInputs().isEmpty()) {
      this.sideInputs = null;
      this.waiting = null;
    } else {
      this.sideInputs = ofLevel.of(step, step.spec().sideInputs().values(), watermarks);
      this.waiting = new WaitingElements(rows, step.input(), sideInputs);
      doFn.context().bindSideInputs(sideInputs);
    }
  }

  final LiveDoFn doFn() {
    return doFn;
  }

  final StepWatermarks watermarks() {
    return watermarks;
  }

  /** What the step reads, null if it reads no side inputs. */
  final StepSideInputs sideInputs() {
    return sideInputs;
  }

  /**
   * Whether an element is to be processed now. If not, it waits for side inputs, or is dropped and
   * counted as it has lost them.
   *
   * @param element in one window
   */
  final boolean admits(WindowedValue<Object> element) {
    if (waiting == null) {
      return true;
    }
    StepSideInputs.State readiness = waiting.offer(element);
    if (readiness == StepSideInputs.State.COLLECTED) {
      drop(1);
    }
    return readiness == StepSideInputs.State.READY;
  }

  /** Processes an element that has waited. */
  abstract void processReleased(WindowedValue<Object> element);

  /** Moves the input watermark, once in an epoch. */
  void advanceInput(long watermarkMillis) {
    watermarks.advanceInput(watermarkMillis);
  }

  /** What is to be done once the input watermark has moved. */
  Work afterWatermark() {
    return Work.NONE;
  }

  /**
   * Ends what the step does in the epoch.
   *
   * @return the earliest hold in millis, {@link Long#MAX_VALUE} if there is none
   */
  abstract long endEpoch();

  /** Writes what the step keeps to its rows, and flushes those. */
  abstract void flushState(StepRows ofStep);

  @Override
  public final Work endOfElements() {
    return Work.NONE;
  }

  @Override
  public final Work advanceWatermark(long watermarkMillis) {
    if (waiting == null) {
      advanceInput(watermarkMillis);
      return afterWatermark();
    }
    return Work.sequence(
        waiting.release(this::processReleased, late -> drop(1)),
        Work.once(() -> advanceInput(waiting.held(watermarkMillis))),
        afterWatermark());
  }

  @Override
  public final void finishBundle() {
    doFn.finishBundle();
    statistics().addRowsOut(doFn.takeOutputs());
  }

  @Override
  public final long finish() {
    long out = watermarks.release(endEpoch());
    if (waiting != null) {
      waiting.flush();
    }
    watermarks.flush();
    flushState(rows);
    statistics().setState(rows.rows(), rows.bytes());
    statistics().setWatermarks(watermarks.inputWatermark(), out);
    return out;
  }

  /** Does nothing: the DoFn counts what it outputs. */
  @Override
  public final void countElements(PlanCollection output, TaskMetrics metrics) {}
}
