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

import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.Map;
import java.util.function.Function;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.state.MapState;
import org.apache.beam.sdk.state.ReadableState;

/**
 * A map: a row per entry, the key's bytes as sub-key. Deferred reads are made when asked for; what
 * they returned then stays as it was.
 */
final class MapCell<K, V> implements MapState<K, V>, StateCell {
  private final CellAddress address;
  private final Coder<K> keyCoder;
  private final Coder<V> valueCoder;
  private final ItemRows items;

  MapCell(CellAddress address, Coder<K> keyCoder, Coder<V> valueCoder) {
    this.address = address;
    this.keyCoder = keyCoder;
    this.valueCoder = valueCoder;
    this.items = new ItemRows(address);
  }

  @Override
  public void put(K key, V value) {
    items.put(address.encode(keyCoder, key), address.encode(valueCoder, value));
  }

  /** Reads and writes at once; the result is the value before, null if there was none. */
  @Override
  public ReadableState<V> computeIfAbsent(
      K key, Function<? super K, ? extends V> mappingFunction) {
    byte[] keyBytes = address.encode(keyCoder, key);
    V old = value(items.get(keyBytes), null);
    if (old == null) {
      V computed = mappingFunction.apply(key);
      items.put(keyBytes, address.encode(valueCoder, computed));
    }
    return DeferredRead.immediate(old);
  }

  @Override
  public void remove(K key) {
    items.remove(address.encode(keyCoder, key));
  }

  @Override
  public ReadableState<V> get(K key) {
    return getOrDefault(key, null);
  }

  @Override
  public ReadableState<V> getOrDefault(K key, V defaultValue) {
    byte[] keyBytes = address.encode(keyCoder, key);
    return DeferredRead.of(() -> value(items.get(keyBytes), defaultValue));
  }

  @Override
  public ReadableState<Iterable<K>> keys() {
    return DeferredRead.of(() -> new SnapshotIterable<>(items.scan(), this::key));
  }

  @Override
  public ReadableState<Iterable<V>> values() {
    return DeferredRead.of(
        () -> new SnapshotIterable<>(items.scan(), row -> value(row.value(), null)));
  }

  @Override
  public ReadableState<Iterable<Map.Entry<K, V>>> entries() {
    return DeferredRead.of(
        () ->
            new SnapshotIterable<>(
                items.scan(),
                row -> new SimpleImmutableEntry<>(key(row), value(row.value(), null))));
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
  public void flush() {
    items.flush();
  }

  private K key(StateRow row) {
    return address.decode(keyCoder, row.suffix());
  }

  private V value(byte[] bytes, V ifAbsent) {
    return bytes == null ? ifAbsent : address.decode(valueCoder, bytes);
  }
}
