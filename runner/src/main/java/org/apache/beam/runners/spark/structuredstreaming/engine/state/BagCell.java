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
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.ReadableState;

/** A bag: a {@link RowList}. Elements are encoded when added and decoded for each iteration. */
final class BagCell<T> implements BagState<T>, StateCell {
  private final CellAddress address;
  private final Coder<T> coder;
  private final RowList list;

  BagCell(CellAddress address, Coder<T> coder) {
    this.address = address;
    this.coder = coder;
    this.list = address.list();
  }

  @Override
  public void add(T value) {
    list.add(address.encodeToScratch(coder, value));
  }

  @Override
  public Iterable<T> read() {
    return new ListIterable<>(list.snapshot(), bytes -> address.decode(coder, bytes));
  }

  @Override
  public ReadableState<Boolean> isEmpty() {
    return DeferredRead.of(() -> list.size() == 0);
  }

  @Override
  public void clear() {
    list.clear();
  }

  @Override
  public BagState<T> readLater() {
    return this;
  }

  @Override
  public void flush() {
    list.flush();
  }

  @Override
  public void release() {
    list.release();
  }
}
