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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput.WindowReference;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.SideInputParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.SplittableParDoStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo.PaneInfoCoder;

/**
 * Makes of a record of the shuffle, which refers to windows that came before it in its block, one that
 * stands by itself and can be read by a {@link RecordInput} again.
 */
abstract class SortedRecords {
  private final ByteOutput identity = new ByteOutput(64);
  private final ByteOutput body = new ByteOutput(512);

  /** For the records that senders write for {@code step}. */
  static SortedRecords of(KeyedStep step) {
    return step instanceof SideInputParDoStep ? new Elements(step) : new Pairs(step);
  }

  /** Takes an element record that {@code record} stands at, and reads it to its end. */
  final void read(RecordInput record) throws IOException {
    identity.reset();
    body.reset();
    body.writeVarInt(record.edge() << 1);
    copy(record, identity, body);
  }

  abstract void copy(RecordInput record, ByteOutput toIdentity, ByteOutput toBody)
      throws IOException;

  /** What the record's group is known by. */
  final ByteOutput identity() {
    return identity;
  }

  /** The record with its header. */
  final ByteOutput body() {
    return body;
  }

  private static void copy(ByteInput from, int start, ByteOutput to) {
    to.write(from.array(), start, from.position() - start);
  }

  /** Whole elements, with their windows, of a step that has no use for keys: one group. */
  private static final class Elements extends SortedRecords {
    private final Coder<?> elementCoder;

    Elements(KeyedStep step) {
      this.elementCoder = step.input().windowedValueCoder();
    }

    @Override
    void copy(RecordInput record, ByteOutput toIdentity, ByteOutput toBody) throws IOException {
      int start = record.bytes().position();
      // Only the coder knows where an element ends.
      elementCoder.decode(record.bytes());
      SortedRecords.copy(record.bytes(), start, toBody);
    }
  }

  /** KVs: {@code key (sized), timestamp, details, windows, value (sized)}; a group for each key. */
  private static final class Pairs extends SortedRecords {
    private final Coder<BoundedWindow> windowCoder;
    private final boolean hasPane;
    private final boolean byKey;

    Pairs(KeyedStep step) {
      this.windowCoder = step.input().windowCoder();
      this.hasPane = step instanceof KeyedParDoStep;
      // Each element of a splittable DoFn has a key of its own.
      this.byKey = !(step instanceof SplittableParDoStep);
    }

    @Override
    void copy(RecordInput record, ByteOutput toIdentity, ByteOutput toBody) throws IOException {
      ByteInput bytes = record.bytes();
      int start = bytes.position();
      int keyLength = bytes.readLength();
      if (byKey) {
        toIdentity.write(bytes.array(), bytes.position(), keyLength);
      }
      bytes.seek(bytes.position() + keyLength);
      bytes.readLong();
      if (hasPane) {
        PaneInfoCoder.INSTANCE.decode(bytes);
      } else {
        bytes.readVarLong();
      }
      SortedRecords.copy(bytes, start, toBody);
      int windows = bytes.readVarInt();
      toBody.writeVarInt(windows);
      for (int i = 0; i < windows; i++) {
        WindowReference reference = record.readWindow(windowCoder);
        toBody.writeVarInt(i);
        windowCoder.encode(reference.window(), toBody);
      }
      start = bytes.position();
      int valueLength = bytes.readLength();
      bytes.seek(bytes.position() + valueLength);
      SortedRecords.copy(bytes, start, toBody);
    }
  }
}
