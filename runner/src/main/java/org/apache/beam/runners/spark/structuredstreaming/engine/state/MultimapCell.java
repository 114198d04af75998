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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.state.MultimapState;
import org.apache.beam.sdk.state.ReadableState;

/** A multimap: a list of values for each key. Reads are made when asked for and then stay. */
final class MultimapCell<K, V> implements MultimapState<K, V>, StateCell {
  private final CellAddress address;
  private final Coder<K> keyCoder;
  private final Coder<V> valueCoder;
  private final KeyedLists lists;

  MultimapCell(CellAddress address, Coder<K> keyCoder, Coder<V> valueCoder) {
    this.address = address;
    this.keyCoder = keyCoder;
    this.valueCoder = valueCoder;
    this.lists = new KeyedLists(address);
  }

  @Override
  public void put(K key, V value) {
    byte[] keyBytes = address.encode(keyCoder, key);
    lists.add(keyBytes, address.encodeToScratch(valueCoder, value));
  }

  @Override
  public ReadableState<Iterable<V>> get(K key) {
    byte[] keyBytes = address.encode(keyCoder, key);
    return DeferredRead.of(() -> lists.isEmpty() ? List.of() : values(keyBytes));
  }

  @Override
  public void remove(K key) {
    lists.remove(address.encode(keyCoder, key));
  }

  @Override
  public ReadableState<Iterable<K>> keys() {
    return DeferredRead.of(
        () -> {
          List<K> keys = new ArrayList<>();
          lists.forEachSubKey(keyBytes -> keys.add(address.decode(keyCoder, keyBytes)));
          return keys;
        });
  }

  @Override
  public ReadableState<Iterable<Map.Entry<K, V>>> entries() {
    return DeferredRead.of(
        () -> {
          List<Iterable<Map.Entry<K, V>>> byKey = new ArrayList<>();
          lists.forEachSubKey(keyBytes -> byKey.add(entries(keyBytes)));
          return new ConcatenatedIterable<>(byKey);
        });
  }

  @Override
  public ReadableState<Boolean> containsKey(K key) {
    byte[] keyBytes = address.encode(keyCoder, key);
    return DeferredRead.of(() -> lists.size(keyBytes) > 0);
  }

  @Override
  public ReadableState<Boolean> isEmpty() {
    return DeferredRead.of(lists::isEmpty);
  }

  @Override
  public void clear() {
    lists.clear();
  }

  @Override
  public void flush() {
    lists.flush();
  }

  @Override
  public void release() {
    lists.release();
  }

  private Iterable<V> values(byte[] keyBytes) {
    return new ListIterable<>(
        lists.snapshot(keyBytes), bytes -> address.decode(valueCoder, bytes));
  }

  private Iterable<Map.Entry<K, V>> entries(byte[] keyBytes) {
    return new ListIterable<>(
        lists.snapshot(keyBytes),
        bytes ->
            new SimpleImmutableEntry<>(
                address.decode(keyCoder, keyBytes), address.decode(valueCoder, bytes)));
  }
}
