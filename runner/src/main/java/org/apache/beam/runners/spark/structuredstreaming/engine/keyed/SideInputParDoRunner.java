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
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LiveDoFn;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.SideInputParDoStep;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues.FullWindowedValueCoder;

/**
 * Runs a stateless DoFn that reads side inputs. An element is processed in each of its windows by
 * itself, when the side inputs are ready there: {@link WaitingElements}. {@code out = in}.
 */
final class SideInputParDoRunner extends KeyedParDoRunner {
  private static final byte WATERMARKS = StepWatermarks.engineKind(0);

  private final FullWindowedValueCoder<Object> elementCoder;

  SideInputParDoRunner(
      SideInputParDoStep step,
      LiveDoFn doFn,
      MetricsContainerImpl container,
      StepRows rows,
      SideInputs sideInputs,
      long processingTimeMillis) {
    super(step, doFn, container, rows, sideInputs, WATERMARKS, processingTimeMillis);
    this.elementCoder = step.input().windowedValueCoder();
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    statistics().addRowsIn(1);
    WindowedValue<Object> element = elementCoder.decode(record.bytes());
    for (WindowedValue<Object> inWindow : element.explodeWindows()) {
      if (admits(inWindow)) {
        doFn().processElement(inWindow);
      }
    }
  }

  @Override
  void processReleased(WindowedValue<Object> element) {
    doFn().processElement(element);
  }

  @Override
  long endEpoch() {
    return Long.MAX_VALUE;
  }

  @Override
  void flushState(StepRows ofStep) {
    ofStep.flush();
  }
}
