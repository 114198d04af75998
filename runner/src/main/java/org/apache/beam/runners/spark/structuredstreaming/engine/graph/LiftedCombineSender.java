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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.PartitionBuffer;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateMemory;
import org.apache.beam.runners.spark.structuredstreaming.translation.CombineStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.WindowedValue;

/**
 * Combines KVs by key and window before they are sent, in a table of bounded size: what is sent is
 * partial accumulators.
 *
 * <p>Body of a record: that of {@link GroupingSender}, always with one window, with an accumulator
 * for a value. The timestamp is the windowing's combination of the elements' timestamps; the number
 * of elements is what counters of late elements need.
 */
final class LiftedCombineSender extends EdgeSender {
  private final CombineFn<Object, Object, Object> combineFn;
  private final Coder<Object> keyCoder;
  private final Coder<Object> accumulatorCoder;
  private final Coder<BoundedWindow> windowCoder;
  private final PartialTable table;
  private final ByteOutput key = new ByteOutput(64);
  private final ByteOutput accumulator = new ByteOutput(256);
  private final TaskMetrics metrics;
  private MetricsContainer container;

  @SuppressWarnings("unchecked") // elements are untyped between steps
  LiftedCombineSender(EdgeChannel channel, TaskMetrics metrics) {
    super(channel);
    this.metrics = metrics;
    CombineStep step = (CombineStep) channel.edge().target();
    this.combineFn = (CombineFn<Object, Object, Object>) step.combineFn();
    this.keyCoder = (Coder<Object>) step.keyCoder();
    this.accumulatorCoder = (Coder<Object>) step.accumulatorCoder();
    this.windowCoder = step.input().windowCoder();
    TimestampCombiner timestamps = step.windowingStrategy().getTimestampCombiner();
    this.table =
        new PartialTable(
            keyCoder,
            combineFn,
            accumulatorCoder,
            timestamps == TimestampCombiner.LATEST,
            StateMemory.limitBytes());
  }

  @Override
  public void accept(WindowedValue<Object> element) {
    KV<?, ?> pair = (KV<?, ?>) element.getValue();
    MetricsContainer outer = enter();
    try {
      for (BoundedWindow window : element.getWindows()) {
        table.add(pair.getKey(), window, pair.getValue(), element.getTimestamp().getMillis());
        if (table.isFull()) {
          table.drain(this::send);
        }
      }
    } catch (StepFailedException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      throw failure("adding a value to an accumulator", e);
    } finally {
      metrics.activate(outer);
    }
    countElement();
  }

  @Override
  void finish() {
    MetricsContainer outer = enter();
    try {
      table.drain(this::send);
    } finally {
      metrics.activate(outer);
    }
  }

  @Override
  void startEpoch() {
    table.clear();
    container = null;
  }

  /** Makes the combine's own container current: the CombineFn may count. */
  private MetricsContainer enter() {
    if (container == null) {
      container = metrics.container(target());
    }
    return metrics.activate(container);
  }

  private void send(
      Object keyObject, BoundedWindow window, Object partial, long elements, long timestamp) {
    try {
      key.reset();
      keyCoder.encode(keyObject, key);
    } catch (IOException | RuntimeException e) {
      throw failure("encoding a key with " + keyCoder, e);
    }
    try {
      accumulator.reset();
      accumulatorCoder.encode(combineFn.compact(partial), accumulator);
      PartitionBuffer buffer = channel().bufferOfKey(key.array(), key.size());
      ByteOutput bytes = buffer.begin(edgeIndex(), false);
      bytes.writeSized(key);
      bytes.writeLong(timestamp);
      bytes.writeVarLong(elements);
      bytes.writeVarInt(1);
      buffer.writeWindow(edgeIndex(), window, windowCoder);
      bytes.writeSized(accumulator);
      buffer.end();
      // Not kept until the next element comes, which may be much later.
      key.reset();
      accumulator.reset();
    } catch (IOException | RuntimeException e) {
      throw failure("encoding an accumulator with " + accumulatorCoder, e);
    }
  }
}
