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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * Entries by encoded key, in the order of their first use. A lookup compares bytes where they lie
 * and makes no object.
 */
final class KeyTable<E extends PaneEntry> {
  /** Not the seed that chooses the partition: within one, those hashes are alike. */
  private static final int HASH_SEED = 7;

  private static final int INITIAL_SLOTS = 64;

  /** Makes the entry of a key that is new. */
  @FunctionalInterface
  interface EntryFactory<E> {
    E create(byte[] key, int hash);
  }

  private final EntryFactory<E> factory;
  private final List<E> entries = new ArrayList<>();
  private Object[] slots = new Object[INITIAL_SLOTS];

  KeyTable(EntryFactory<E> factory) {
    this.factory = factory;
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  /** All entries in the order of their first use. */
  List<E> entries() {
    return entries;
  }

  void clear() {
    entries.clear();
    if (slots.length > INITIAL_SLOTS) {
      slots = new Object[INITIAL_SLOTS];
    } else {
      Arrays.fill(slots, null);
    }
  }

  /** The entry of the key, or null. */
  E find(byte[] key) {
    return find(key, 0, key.length, hash(key, 0, key.length));
  }

  /** The entry of the key, a new one if there is none. */
  E findOrCreate(byte[] bytes, int offset, int length) {
    int hash = hash(bytes, offset, length);
    E found = find(bytes, offset, length, hash);
    if (found != null) {
      return found;
    }
    E created = factory.create(Arrays.copyOfRange(bytes, offset, offset + length), hash);
    entries.add(created);
    if (entries.size() * 2 > slots.length) {
      rebuild();
    } else {
      place(created);
    }
    return created;
  }

  @SuppressWarnings("unchecked") // slots hold entries only
  private E find(byte[] bytes, int offset, int length, int hash) {
    int mask = slots.length - 1;
    int slot = hash & mask;
    while (slots[slot] != null) {
      E entry = (E) slots[slot];
      byte[] key = entry.key();
      if (entry.hash() == hash
          && Arrays.equals(key, 0, key.length, bytes, offset, offset + length)) {
        return entry;
      }
      slot = (slot + 1) & mask;
    }
    return null;
  }

  private void rebuild() {
    slots = new Object[slots.length * 2];
    for (E entry : entries) {
      place(entry);
    }
  }

  private void place(E entry) {
    int mask = slots.length - 1;
    int slot = entry.hash() & mask;
    while (slots[slot] != null) {
      slot = (slot + 1) & mask;
    }
    slots[slot] = entry;
  }

  private static int hash(byte[] bytes, int offset, int length) {
    return Murmur3_x86_32.hashUnsafeBytes2(
        bytes, Platform.BYTE_ARRAY_OFFSET + offset, length, HASH_SEED);
  }
}
