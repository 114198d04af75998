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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A write-back cache over other rows, for one epoch.
 *
 * <p>Invariants, with {@code S} the rows behind, {@code C} the cached ones (absent ones included):
 *
 * <ul>
 *   <li>{@code get} and {@code scan} return what {@code S} with all changes applied would return:
 *       a row in {@code C} counts, any other is as in {@code S}. A prefix that was scanned is
 *       <em>complete</em>: a row that is not in {@code C} is not in {@code S} either.
 *   <li>Between two spills a row is read from {@code S} at most once by {@code get}, and a prefix
 *       is scanned at most once. A flush writes each changed row once, and not at all if it is
 *       absent and never was in {@code S}.
 *   <li>The cached bytes exceed the limit by no more than the last row or scan: then the cache
 *       spills, that is, flushes and forgets everything.
 * </ul>
 */
public final class CachedStateRows implements StateRows {
  /** What a cached row and a cached prefix weigh beyond their bytes: objects and table slots. */
  private static final int ROW_OVERHEAD = 144;

  private static final int PREFIX_OVERHEAD = 208;

  private final StateRows store;
  private final long limitBytes;
  private final Map<ByteKey, CachedPrefix> prefixes = new HashMap<>();
  // The prefix used last: most accesses stay with one key.
  private CachedPrefix current;
  private long cachedBytes;

  /**
   * An empty cache.
   *
   * @param limitBytes how much memory the cached rows may take, more than 0
   */
  public CachedStateRows(StateRows store, long limitBytes) {
    this.store = Objects.requireNonNull(store, "store");
    if (limitBytes <= 0) {
      throw new IllegalArgumentException("limitBytes must be positive: " + limitBytes);
    }
    this.limitBytes = limitBytes;
  }

  @Override
  public byte[] get(byte[] prefix, byte[] suffix) {
    CachedPrefix cached = prefix(prefix);
    ByteKey key = new ByteKey(suffix);
    CachedRow row = cached.rows.get(key);
    if (row != null) {
      return row.value;
    }
    if (cached.complete) {
      return null;
    }
    byte[] value = store.get(prefix, suffix);
    add(cached, key, new CachedRow(value, value == null ? Behind.ABSENT : Behind.PRESENT));
    spillIfFull();
    return value;
  }

  @Override
  public void put(byte[] prefix, byte[] suffix, byte[] value) {
    change(prefix, suffix, Objects.requireNonNull(value, "value"), Behind.UNKNOWN);
  }

  @Override
  public void insert(byte[] prefix, byte[] suffix, byte[] value) {
    change(prefix, suffix, Objects.requireNonNull(value, "value"), Behind.ABSENT);
  }

  @Override
  public void remove(byte[] prefix, byte[] suffix) {
    change(prefix, suffix, null, Behind.UNKNOWN);
  }

  private void change(byte[] prefix, byte[] suffix, byte[] value, Behind behindIfNew) {
    CachedPrefix cached = prefix(prefix);
    ByteKey key = new ByteKey(suffix);
    CachedRow row = cached.rows.get(key);
    if (row == null) {
      row = new CachedRow(value, cached.complete ? Behind.ABSENT : behindIfNew);
      add(cached, key, row);
    } else {
      cachedBytes += length(value) - length(row.value);
      row.value = value;
    }
    row.changed = value != null || row.behind != Behind.ABSENT;
    spillIfFull();
  }

  @Override
  public Iterator<StateRow> scan(byte[] prefix) {
    CachedPrefix cached = prefix(prefix);
    if (!cached.complete) {
      store.forEach(
          prefix,
          stored -> {
            ByteKey key = new ByteKey(stored.suffix());
            if (!cached.rows.containsKey(key)) {
              add(cached, key, new CachedRow(stored.value(), Behind.PRESENT));
            }
          });
      cached.complete = true;
    }
    List<StateRow> rows = new ArrayList<>(cached.rows.size());
    for (Map.Entry<ByteKey, CachedRow> entry : cached.rows.entrySet()) {
      if (entry.getValue().value != null) {
        rows.add(new StateRow(entry.getKey().bytes(), entry.getValue().value));
      }
    }
    spillIfFull();
    return rows.iterator();
  }

  /** The prefix leaves the cache: its changes go to the rows behind, where it is drained. */
  @Override
  public Iterator<StateRow> drain(byte[] prefix) {
    CachedPrefix cached = prefixes.remove(new ByteKey(prefix));
    if (cached != null) {
      write(cached);
      for (Map.Entry<ByteKey, CachedRow> entry : cached.rows.entrySet()) {
        cachedBytes -= ROW_OVERHEAD + entry.getKey().bytes().length + length(entry.getValue().value);
      }
      cachedBytes -= PREFIX_OVERHEAD + prefix.length;
    }
    current = null;
    return store.drain(prefix);
  }

  /** Writes the changed rows to the rows behind and keeps all in the cache, unchanged. */
  @Override
  public void flush() {
    prefixes.values().forEach(this::write);
    store.flush();
  }

  private void write(CachedPrefix cached) {
    for (Map.Entry<ByteKey, CachedRow> entry : cached.rows.entrySet()) {
      CachedRow row = entry.getValue();
      if (row.changed) {
        byte[] suffix = entry.getKey().bytes();
        if (row.value != null) {
          store.put(cached.prefix, suffix, row.value);
          row.behind = Behind.PRESENT;
        } else {
          store.remove(cached.prefix, suffix);
          row.behind = Behind.ABSENT;
        }
        row.changed = false;
      }
    }
  }

  /** Estimated memory of the cached rows. */
  long cachedBytes() {
    return cachedBytes;
  }

  private void spillIfFull() {
    if (cachedBytes > limitBytes) {
      flush();
      prefixes.clear();
      current = null;
      cachedBytes = 0;
    }
  }

  private CachedPrefix prefix(byte[] prefix) {
    if (current != null && Arrays.equals(current.prefix, prefix)) {
      return current;
    }
    ByteKey key = new ByteKey(prefix);
    CachedPrefix cached = prefixes.get(key);
    if (cached == null) {
      cached = new CachedPrefix(prefix);
      prefixes.put(key, cached);
      cachedBytes += PREFIX_OVERHEAD + prefix.length;
    }
    current = cached;
    return cached;
  }

  private void add(CachedPrefix cached, ByteKey key, CachedRow row) {
    cached.rows.put(key, row);
    cachedBytes += ROW_OVERHEAD + key.bytes().length + length(row.value);
  }

  private static long length(byte[] value) {
    return value == null ? 0 : value.length;
  }

  private static final class CachedPrefix {
    final byte[] prefix;
    final Map<ByteKey, CachedRow> rows = new HashMap<>(4);
    boolean complete;

    CachedPrefix(byte[] prefix) {
      this.prefix = prefix;
    }
  }

  /** What is known of a row in the rows behind. */
  private enum Behind {
    PRESENT,
    ABSENT,
    UNKNOWN
  }

  private static final class CachedRow {
    byte[] value;
    Behind behind;
    boolean changed;

    CachedRow(byte[] value, Behind behind) {
      this.value = value;
      this.behind = behind;
    }
  }
}
