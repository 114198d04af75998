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
import java.util.Objects;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LiveDoFn;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.SideInputParDoStep;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.util.UserCodeException;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues.FullWindowedValueCoder;

/**
 * Runs a stateless DoFn that reads side inputs. An element is processed in each of its windows by
 * itself, when the side inputs are ready there: {@link WaitingElements}. {@code out = in}.
 */
final class SideInputParDoRunner extends KeyedStepRunner {
  private static final byte WATERMARKS = StepWatermarks.engineKind(0);

  private final LiveDoFn doFn;
  private final StepRows rows;
  private final StepWatermarks watermarks;
  private final WaitingElements waiting;
  private final FullWindowedValueCoder<Object> elementCoder;

  SideInputParDoRunner(
      SideInputParDoStep step,
      LiveDoFn doFn,
      MetricsContainerImpl container,
      StepRows rows,
      SideInputs sideInputs,
      long processingTimeMillis) {
    super(step, element -> {}, container);
    this.doFn = Objects.requireNonNull(doFn, "doFn");
    this.rows = rows;
    this.watermarks = new StepWatermarks(rows, WATERMARKS, processingTimeMillis);
    StepSideInputs ofStep = sideInputs.of(step, step.spec().sideInputs().values(), watermarks);
    this.waiting = new WaitingElements(rows, step.input(), ofStep);
    this.elementCoder = step.input().windowedValueCoder();
    doFn.context().bindSideInputs(ofStep);
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    statistics().addRowsIn(1);
    WindowedValue<Object> element = elementCoder.decode(record.bytes());
    for (WindowedValue<Object> inWindow : element.explodeWindows()) {
      StepSideInputs.State readiness = waiting.offer(inWindow);
      if (readiness == StepSideInputs.State.READY) {
        process(inWindow);
      } else if (readiness == StepSideInputs.State.COLLECTED) {
        drop(1);
      }
    }
  }

  @Override
  public Work endOfElements() {
    return Work.NONE;
  }

  @Override
  public Work advanceWatermark(long watermarkMillis) {
    return Work.sequence(
        waiting.release(this::process, late -> drop(1)),
        Work.once(() -> watermarks.advanceInput(waiting.held(watermarkMillis))));
  }

  @Override
  public void finishBundle() {
    doFn.finishBundle();
  }

  @Override
  public long finish() {
    long out = watermarks.release(Long.MAX_VALUE);
    waiting.flush();
    watermarks.flush();
    rows.flush();
    statistics().addRowsOut(doFn.takeOutputs());
    statistics().setState(rows.rows(), rows.bytes());
    statistics().setWatermarks(watermarks.inputWatermark(), out);
    return out;
  }

  private void process(WindowedValue<Object> element) {
    MetricsContainer outer = doFn.enter();
    try {
      doFn.runner().processElement(element);
    } catch (UserCodeException e) {
      throw doFn.failure("processing an element", e);
    } finally {
      doFn.leave(outer);
    }
  }
}
