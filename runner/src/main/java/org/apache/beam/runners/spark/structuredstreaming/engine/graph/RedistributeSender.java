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
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues.FullWindowedValueCoder;

/**
 * Sends whole elements, by the hash of their key or to one partition after another. Body of a
 * record: the element in its full windowed value coding.
 */
final class RedistributeSender extends EdgeSender {
  private final FullWindowedValueCoder<Object> elementCoder;
  private final Coder<Object> keyCoder;
  private final ByteOutput key = new ByteOutput(64);
  private int nextPartition;

  /**
   * @param byKey whether elements of a key have to meet
   * @param firstPartition where this task starts dealing elements that need not meet by key
   */
  @SuppressWarnings("unchecked") // elements are untyped between steps
  RedistributeSender(EdgeChannel channel, boolean byKey, int firstPartition) {
    super(channel);
    this.elementCoder = channel.edge().collection().windowedValueCoder();
    this.keyCoder = byKey ? (Coder<Object>) channel.edge().target().keyCoder() : null;
    this.nextPartition = Math.floorMod(firstPartition, channel.parallelism());
  }

  @Override
  public void accept(WindowedValue<Object> element) {
    try {
      PartitionBuffer buffer = bufferFor(element);
      ByteOutput bytes = buffer.begin(edgeIndex(), false);
      elementCoder.encode(element, bytes);
      buffer.end();
    } catch (IOException | RuntimeException e) {
      throw failure("encoding an element with " + elementCoder, e);
    }
    countElement();
  }

  private PartitionBuffer bufferFor(WindowedValue<Object> element) throws IOException {
    if (keyCoder == null) {
      int partition = nextPartition;
      nextPartition = partition + 1 == channel().parallelism() ? 0 : partition + 1;
      return channel().buffer(partition);
    }
    key.reset();
    keyCoder.encode(((KV<?, ?>) element.getValue()).getKey(), key);
    PartitionBuffer buffer = channel().bufferOfKey(key.array(), key.size());
    key.reset();
    return buffer;
  }
}
