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
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.translation.CombineStep;

/** Panes of one accumulator, merged from the partial ones that the senders made. */
final class CombiningPanes extends Panes<CombiningPanes.Entry> {
  private final PartialAccumulators accumulators;
  private final ByteInput input = new ByteInput();

  /** An accumulator, null while there is nothing to combine. */
  static final class Entry extends PaneEntry {
    private Object accumulator;
    private boolean filled;

    Entry(byte[] key, int hash) {
      super(key, hash);
    }
  }

  CombiningPanes(CombineStep step) {
    this.accumulators = new PartialAccumulators(step);
  }

  @Override
  Entry create(byte[] key, int hash) {
    return new Entry(key, hash);
  }

  @Override
  int add(Entry entry, byte[] bytes, int offset, int length) throws IOException {
    input.reset(bytes, offset, length);
    Object partial = accumulators.decode(input);
    if (entry.filled) {
      entry.accumulator = accumulators.merge(entry.accumulator, partial);
      return 0;
    }
    entry.accumulator = partial;
    entry.filled = true;
    return length;
  }

  @Override
  void mergeStored(WindowState<Entry> window, Entry entry, ByteInput stored) throws IOException {
    if (stored.readByte() == 0) {
      return;
    }
    Object earlier = accumulators.decode(stored);
    entry.accumulator = entry.filled ? accumulators.merge(earlier, entry.accumulator) : earlier;
    entry.filled = true;
  }

  @Override
  void store(WindowState<Entry> window, Entry entry, ByteOutput out) throws IOException {
    out.write(entry.filled ? 1 : 0);
    if (entry.filled) {
      accumulators.encode(entry.accumulator, out);
    }
  }

  @Override
  Object value(WindowState<Entry> window, Entry entry) {
    return accumulators.output(entry.filled ? entry.accumulator : accumulators.empty());
  }

  @Override
  void clear(WindowState<Entry> window, Entry entry) {
    entry.accumulator = null;
    entry.filled = false;
  }
}
