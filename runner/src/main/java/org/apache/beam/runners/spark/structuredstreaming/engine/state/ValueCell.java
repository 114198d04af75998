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
import org.apache.beam.sdk.state.ValueState;

/**
 * A single value in one row.
 *
 * <p>Invariant: what is read, now or in a later epoch, is the value as it was when written,
 * whatever the user does to the object afterwards. So a value is encoded when written and decoded
 * for each read, save those of {@link ImmutableValues}: these are kept as objects, encoded once
 * when flushed and decoded once.
 */
final class ValueCell<T> implements ValueState<T>, StateCell {
  private final CellAddress address;
  private final Coder<T> coder;
  private boolean loaded;
  private boolean changed;
  private boolean present;
  // While present, one of the two at least holds the value.
  private byte[] encoded;
  private T object;
  private boolean objectValid;

  ValueCell(CellAddress address, Coder<T> coder) {
    this.address = address;
    this.coder = coder;
  }

  @Override
  public T read() {
    load();
    if (!present) {
      return null;
    }
    if (objectValid) {
      return object;
    }
    T value = address.decode(coder, encoded);
    if (ImmutableValues.isImmutable(value)) {
      object = value;
      objectValid = true;
    }
    return value;
  }

  @Override
  public void write(T input) {
    if (ImmutableValues.isImmutable(input)) {
      object = input;
      objectValid = true;
      encoded = null;
    } else {
      encoded = address.encode(coder, input);
      object = null;
      objectValid = false;
    }
    countHeld();
    present = true;
    loaded = true;
    changed = true;
  }

  @Override
  public void clear() {
    present = false;
    encoded = null;
    object = null;
    objectValid = false;
    countHeld();
    loaded = true;
    changed = true;
  }

  @Override
  public ValueState<T> readLater() {
    return this;
  }

  @Override
  public void flush() {
    if (!changed) {
      return;
    }
    if (present && encoded == null) {
      encoded = address.encode(coder, object);
    }
    address.setHead(present ? encoded : null);
    countHeld();
    changed = false;
  }

  @Override
  public void release() {
    flush();
    address.hold(0);
  }

  private void countHeld() {
    address.hold(encoded == null ? 0 : encoded.length);
  }

  private void load() {
    if (!loaded) {
      encoded = address.head();
      present = encoded != null;
      countHeld();
      loaded = true;
    }
  }
}
