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
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.sdk.values.WindowedValues.FullWindowedValueCoder;

/** Passes elements on as they come; {@code out = in}. */
final class RedistributeRunner extends KeyedStepRunner {
  private final FullWindowedValueCoder<Object> elementCoder;
  private long watermark = Long.MIN_VALUE;

  RedistributeRunner(
      KeyedStep step, ElementReceiver output, MetricsContainerImpl container) {
    super(step, output, container);
    this.elementCoder = step.input().windowedValueCoder();
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    statistics().addRowsIn(1);
    emit(elementCoder.decode(record.bytes()));
  }

  @Override
  public Work endOfElements() {
    return Work.NONE;
  }

  /** The senders' watermarks do not go back, so neither does their minimum: no state is needed. */
  @Override
  public Work advanceWatermark(long watermarkMillis) {
    watermark = watermarkMillis;
    return Work.NONE;
  }

  @Override
  public long finish() {
    statistics().setWatermarks(watermark, watermark);
    return watermark;
  }
}
