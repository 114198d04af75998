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

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;

/**
 * Lists by sub-key: a {@link RowList} each, with its head among the cell's items and its chunks
 * under a prefix of its own, and the number of lists that are not empty in the cell's head row.
 *
 * <pre>
 * (step, ITEM, key, namespace, state id)            -> (sub-key) -> head of the list
 * (step, CHUNK, key, namespace, state id, sub-key)  -> (sequence) -> chunk
 * </pre>
 */
final class KeyedLists {
  private final CellAddress address;
  private final byte[] itemPrefix;
  private final Map<ByteKey, RowList> lists = new HashMap<>();
  private boolean loaded;
  private boolean countChanged;
  private long count;

  KeyedLists(CellAddress address) {
    this.address = address;
    this.itemPrefix = address.itemPrefix();
  }

  boolean isEmpty() {
    load();
    return count == 0;
  }

  /** How many elements the sub-key has. */
  long size(byte[] subKey) {
    return isEmpty() ? 0 : list(subKey).size();
  }

  /**
   * Adds an element to a sub-key's list.
   *
   * @return whether the sub-key had no elements before
   */
  boolean add(byte[] subKey, ByteOutput element) {
    RowList list = list(subKey);
    boolean isFirst = list.size() == 0;
    list.add(element);
    if (isFirst) {
      changeCount(1);
    }
    return isFirst;
  }

  void remove(byte[] subKey) {
    if (size(subKey) > 0) {
      list(subKey).clear();
      changeCount(-1);
    }
  }

  RowList.Snapshot snapshot(byte[] subKey) {
    return list(subKey).snapshot();
  }

  /** All sub-keys that have elements now. */
  void forEachSubKey(Consumer<byte[]> action) {
    if (!isEmpty()) {
      // Heads that changed are known to their lists alone until they are flushed.
      lists.values().forEach(RowList::flush);
      address.rows().forEach(itemPrefix, row -> action.accept(row.suffix()));
    }
  }

  void clear() {
    forEachSubKey(this::remove);
  }

  void flush() {
    lists.values().forEach(RowList::flush);
    flushCount();
  }

  void release() {
    lists.values().forEach(RowList::release);
    flushCount();
  }


  private RowList list(byte[] subKey) {
    return lists.computeIfAbsent(
        new ByteKey(subKey), key -> address.list(itemPrefix, key.bytes()));
  }

  private void changeCount(long delta) {
    load();
    count += delta;
    countChanged = true;
  }

  private void flushCount() {
    if (countChanged) {
      address.setHead(count == 0 ? null : new ByteOutput().writeVarLong(count).toByteArray());
      countChanged = false;
    }
  }

  private void load() {
    if (!loaded) {
      byte[] head = address.head();
      count = head == null ? 0 : new ByteInput(head).readVarLong();
      loaded = true;
    }
  }
}
