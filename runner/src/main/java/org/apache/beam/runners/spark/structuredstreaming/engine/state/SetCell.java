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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.state.ReadableState;
import org.apache.beam.sdk.state.SetState;

/** A set: a row per element, whose bytes are the row's sub-key. */
final class SetCell<T> implements SetState<T>, StateCell {
  private static final byte[] NO_VALUE = new byte[0];

  private final CellAddress address;
  private final Coder<T> coder;
  private final ItemRows items;

  SetCell(CellAddress address, Coder<T> coder) {
    this.address = address;
    this.coder = coder;
    this.items = new ItemRows(address);
  }

  /** Whether the element is in the set now; later changes do not change the answer. */
  @Override
  public ReadableState<Boolean> contains(T element) {
    return DeferredRead.immediate(items.get(address.encode(coder, element)) != null);
  }

  @Override
  public ReadableState<Boolean> addIfAbsent(T element) {
    byte[] bytes = address.encode(coder, element);
    boolean absent = items.get(bytes) == null;
    if (absent) {
      items.put(bytes, NO_VALUE);
    }
    return DeferredRead.immediate(absent);
  }

  @Override
  public void add(T element) {
    items.put(address.encode(coder, element), NO_VALUE);
  }

  @Override
  public void remove(T element) {
    items.remove(address.encode(coder, element));
  }

  @Override
  public Iterable<T> read() {
    return new SnapshotIterable<>(
        items.scan(), row -> address.decode(coder, row.suffix()));
  }

  @Override
  public ReadableState<Boolean> isEmpty() {
    return DeferredRead.of(items::isEmpty);
  }

  @Override
  public void clear() {
    items.clear();
  }

  @Override
  public SetState<T> readLater() {
    return this;
  }

  @Override
  public void flush() {
    items.flush();
  }
}
