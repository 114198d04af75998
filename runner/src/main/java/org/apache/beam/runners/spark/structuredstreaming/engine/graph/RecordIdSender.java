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
import org.apache.beam.runners.spark.structuredstreaming.translation.DeduplicateStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.values.ValueWithRecordId;
import org.apache.beam.sdk.values.WindowedValue;

/**
 * Sends records by the hash of their id. Body of a record: {@code id (sized), timestamp (8 bytes),
 * value}. Records come from a source alone, so all are in the global window and in no pane.
 */
final class RecordIdSender extends EdgeSender {
  private final Coder<Object> valueCoder;

  @SuppressWarnings("unchecked") // elements are untyped between steps
  RecordIdSender(EdgeChannel channel) {
    super(channel);
    this.valueCoder = (Coder<Object>) ((DeduplicateStep) channel.edge().target()).valueCoder();
  }

  @Override
  public void accept(WindowedValue<Object> element) {
    ValueWithRecordId<?> record = (ValueWithRecordId<?>) element.getValue();
    byte[] id = record.getId();
    try {
      PartitionBuffer buffer = channel().bufferOfKey(id, id.length);
      ByteOutput bytes = buffer.begin(edgeIndex(), false);
      bytes.writeVarInt(id.length);
      bytes.write(id);
      bytes.writeLong(element.getTimestamp().getMillis());
      valueCoder.encode(record.getValue(), bytes);
      buffer.end();
    } catch (IOException | RuntimeException e) {
      throw failure("encoding a record with " + valueCoder, e);
    }
    countElement();
  }
}
