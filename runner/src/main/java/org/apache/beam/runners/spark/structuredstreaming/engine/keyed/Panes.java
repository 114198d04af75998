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

/**
 * What the panes of a window-major step are made of: gathered values or an accumulator.
 *
 * @param <E> the content of one key and window in memory
 */
abstract class Panes<E extends PaneEntry> {
  abstract E create(byte[] key, int hash);

  /**
   * Adds the payload of one shuffle record.
   *
   * @return bytes of memory the entry grew by, roughly
   */
  abstract int add(E entry, byte[] bytes, int offset, int length) throws IOException;

  /** Puts stored content before what the entry has. Called at most once an entry. */
  abstract void mergeStored(WindowState<E> window, E entry, ByteInput stored) throws IOException;

  /** Writes the content as {@link #mergeStored} reads it. */
  abstract void store(WindowState<E> window, E entry, ByteOutput out) throws IOException;

  /** The value of the pane that is emitted now. */
  abstract Object value(WindowState<E> window, E entry);

  /** Takes the content away once its pane is emitted. */
  abstract void clear(WindowState<E> window, E entry);

  /** Called at the end of the epoch: nothing emitted is read any more. */
  void finishEpoch() {}
}
