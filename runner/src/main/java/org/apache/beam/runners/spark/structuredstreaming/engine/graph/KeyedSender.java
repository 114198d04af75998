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
import java.util.Collection;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.PartitionBuffer;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.WindowedValue;

/**
 * Sends KVs by the hash of their key.
 *
 * <p>Body of a record: {@code key (sized), timestamp (8 bytes), what the kind of sender adds, number of
 * windows, windows, value (sized)}.
 */
abstract class KeyedSender extends EdgeSender {
  private final Coder<Object> keyCoder;
  private final Coder<Object> valueCoder;
  private final Coder<BoundedWindow> windowCoder;
  private final ByteOutput key = new ByteOutput(64);
  private final ByteOutput value = new ByteOutput(256);

  @SuppressWarnings("unchecked") // elements are untyped between steps
  KeyedSender(EdgeChannel channel) {
    super(channel);
    this.keyCoder = (Coder<Object>) channel.edge().target().keyCoder();
    this.valueCoder = (Coder<Object>) channel.edge().target().valueCoder();
    this.windowCoder = channel.edge().target().input().windowCoder();
  }

  /** Writes what comes between timestamp and windows. */
  abstract void writeDetails(WindowedValue<Object> element, ByteOutput bytes) throws IOException;

  @Override
  public final void accept(WindowedValue<Object> element) {
    KV<?, ?> pair = (KV<?, ?>) element.getValue();
    try {
      key.reset();
      keyCoder.encode(pair.getKey(), key);
    } catch (IOException | RuntimeException e) {
      throw failure("encoding a key with " + keyCoder, e);
    }
    try {
      value.reset();
      valueCoder.encode(pair.getValue(), value);
    } catch (IOException | RuntimeException e) {
      throw failure("encoding a value with " + valueCoder, e);
    }
    try {
      write(element);
    } catch (IOException | RuntimeException e) {
      throw failure("encoding a window with " + windowCoder, e);
    }
    countElement();
  }

  private void write(WindowedValue<Object> element) throws IOException {
    PartitionBuffer buffer = channel().bufferOfKey(key.array(), key.size());
    ByteOutput bytes = buffer.begin(edgeIndex(), false);
    bytes.writeSized(key);
    bytes.writeLong(element.getTimestamp().getMillis());
    writeDetails(element, bytes);
    Collection<? extends BoundedWindow> windows = element.getWindows();
    bytes.writeVarInt(windows.size());
    for (BoundedWindow window : windows) {
      buffer.writeWindow(edgeIndex(), window, windowCoder);
    }
    bytes.writeSized(value);
    buffer.end();
    // Not kept until the next element comes, which may be much later.
    key.reset();
    value.reset();
  }
}
