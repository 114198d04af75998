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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * Partial accumulators by (key, window): an open-addressing hash table in insertion order, made for
 * the element path, so without an object per entry or lookup.
 *
 * <p>Every entry has an accumulator of its own: accumulators may be changed in place and must not
 * be shared between windows.
 *
 * <p>The table is full when it has {@value #MAX_ENTRIES} entries, {@value #MAX_VALUES} values, or more
 * bytes of accumulators than it may have. These are estimated whenever the values have become half as
 * many again:
 *
 * <pre>
 * bytes = encoded size of the accumulator changed last
 *         + (entries - 1) * mean encoded size of up to {@value #SAMPLES} others
 * </pre>
 */
final class PartialTable {
  /** When full the table is sent: a bound of memory, high enough to combine what repeats. */
  private static final int MAX_ENTRIES = 1 << 16;

  /** Accumulators may grow with what is added to them, so the number of values is bounded too. */
  private static final int MAX_VALUES = 1 << 20;

  private static final int INITIAL_CAPACITY = 1 << 10;

  /** Values of the first estimate: an epoch that combines few is spared it. */
  private static final int FIRST_ESTIMATE = 8;

  private static final int SAMPLES = 16;

  private final Coder<Object> keyCoder;
  private final boolean keysAreComparable;
  private final CombineFn<Object, Object, Object> combineFn;
  private final boolean latestTimestamp;
  private final Coder<Object> accumulatorCoder;
  private final long maxBytes;

  /** Position in the entry arrays plus one, by slot; 0 is free. Twice as long as the others. */
  private int[] slots = new int[INITIAL_CAPACITY * 2];

  private int[] hashes = new int[INITIAL_CAPACITY];
  private Object[] keys = new Object[INITIAL_CAPACITY];
  private Object[] identities = new Object[INITIAL_CAPACITY];
  private BoundedWindow[] windows = new BoundedWindow[INITIAL_CAPACITY];
  private Object[] accumulators = new Object[INITIAL_CAPACITY];
  private long[] elements = new long[INITIAL_CAPACITY];
  private long[] timestamps = new long[INITIAL_CAPACITY];
  private int size;
  private int values;
  private int nextEstimate = FIRST_ESTIMATE;
  private int changedLast;
  private boolean tooLarge;
  private BoundedWindow lastWindow;
  private int lastWindowHash;

  /** Takes an entry on its way out. */
  @FunctionalInterface
  interface Drain {
    void entry(Object key, BoundedWindow window, Object accumulator, long elements, long timestamp);
  }

  /**
   * @param latestTimestamp whether an entry keeps the latest timestamp of its elements; otherwise
   *     the earliest
   * @param maxBytes how many bytes the encoded accumulators may have, about
   */
  PartialTable(
      Coder<Object> keyCoder,
      CombineFn<Object, Object, Object> combineFn,
      Coder<Object> accumulatorCoder,
      boolean latestTimestamp,
      long maxBytes) {
    this.accumulatorCoder = accumulatorCoder;
    this.maxBytes = maxBytes;
    this.keyCoder = keyCoder;
    this.keysAreComparable = keyCoder.consistentWithEquals();
    this.combineFn = combineFn;
    this.latestTimestamp = latestTimestamp;
  }

  boolean isFull() {
    return size >= MAX_ENTRIES || values >= MAX_VALUES || tooLarge;
  }

  /** Adds a value; the table is not full. */
  void add(Object key, BoundedWindow window, Object value, long timestamp) throws IOException {
    combine(key, window, value, timestamp);
    if (++values >= nextEstimate) {
      nextEstimate += nextEstimate / 2;
      tooLarge = estimatedBytes() > maxBytes;
    }
  }

  /** Estimates the encoded size of all accumulators. */
  private long estimatedBytes() throws IOException {
    long ofLast = encodedBytes(accumulators[changedLast]);
    int others = size - 1;
    if (others == 0) {
      return ofLast;
    }
    int samples = Math.min(others, SAMPLES);
    long ofSamples = 0;
    for (int i = 0; i < samples; i++) {
      int entry = (int) ((long) others * i / samples);
      ofSamples += encodedBytes(accumulators[entry < changedLast ? entry : entry + 1]);
    }
    return ofLast + ofSamples * others / samples;
  }

  private long encodedBytes(Object accumulator) throws IOException {
    CountingOutput counted = new CountingOutput();
    accumulatorCoder.encode(accumulator, counted);
    return counted.bytes;
  }

  /** Counts what is written, and drops it. */
  private static final class CountingOutput extends OutputStream {
    private long bytes;

    @Override
    public void write(int value) {
      bytes++;
    }

    @Override
    public void write(byte[] from, int offset, int length) {
      bytes += length;
    }
  }

  private void combine(Object key, BoundedWindow window, Object value, long timestamp) {
    if (window != lastWindow) {
      lastWindow = window;
      lastWindowHash = window.hashCode() * 0x9E3779B9;
    }
    Object identity = keysAreComparable ? key : keyCoder.structuralValue(key);
    int hash = spread((identity == null ? 0 : identity.hashCode()) ^ lastWindowHash);
    int mask = slots.length - 1;
    int slot = hash & mask;
    while (slots[slot] != 0) {
      int entry = slots[slot] - 1;
      if (hashes[entry] == hash
          && (windows[entry] == window || windows[entry].equals(window))
          && (identities[entry] == identity
              || (identity != null && identity.equals(identities[entry])))) {
        accumulators[entry] = combineFn.addInput(accumulators[entry], value);
        changedLast = entry;
        elements[entry]++;
        timestamps[entry] =
            latestTimestamp
                ? Math.max(timestamps[entry], timestamp)
                : Math.min(timestamps[entry], timestamp);
        return;
      }
      slot = (slot + 1) & mask;
    }
    insert(slot, hash, key, identity, window, timestamp, value);
  }

  /** Hands every entry out in the order of first arrival and forgets it. */
  void drain(Drain target) {
    for (int i = 0; i < size; i++) {
      target.entry(keys[i], windows[i], accumulators[i], elements[i], timestamps[i]);
    }
    clear();
  }

  void clear() {
    Arrays.fill(slots, 0);
    Arrays.fill(keys, 0, size, null);
    Arrays.fill(identities, 0, size, null);
    Arrays.fill(windows, 0, size, null);
    Arrays.fill(accumulators, 0, size, null);
    size = 0;
    values = 0;
    nextEstimate = FIRST_ESTIMATE;
    changedLast = 0;
    tooLarge = false;
    lastWindow = null;
  }

  private void insert(
      int slot,
      int hash,
      Object key,
      Object identity,
      BoundedWindow window,
      long timestamp,
      Object value) {
    Object accumulator = combineFn.addInput(combineFn.createAccumulator(), value);
    int entry = size;
    slots[slot] = entry + 1;
    hashes[entry] = hash;
    keys[entry] = key;
    identities[entry] = identity;
    windows[entry] = window;
    accumulators[entry] = accumulator;
    changedLast = entry;
    elements[entry] = 1;
    timestamps[entry] = timestamp;
    size++;
    if (size == hashes.length) {
      grow();
    }
  }

  private void grow() {
    int capacity = hashes.length * 2;
    hashes = Arrays.copyOf(hashes, capacity);
    keys = Arrays.copyOf(keys, capacity);
    identities = Arrays.copyOf(identities, capacity);
    windows = Arrays.copyOf(windows, capacity);
    accumulators = Arrays.copyOf(accumulators, capacity);
    elements = Arrays.copyOf(elements, capacity);
    timestamps = Arrays.copyOf(timestamps, capacity);
    slots = new int[capacity * 2];
    int mask = slots.length - 1;
    for (int entry = 0; entry < size; entry++) {
      int slot = hashes[entry] & mask;
      while (slots[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      slots[slot] = entry + 1;
    }
  }

  private static int spread(int hash) {
    int mixed = hash * 0x85EBCA6B;
    return mixed ^ (mixed >>> 15);
  }
}
