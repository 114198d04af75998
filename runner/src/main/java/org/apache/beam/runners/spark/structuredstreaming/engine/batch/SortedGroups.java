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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.util.collection.unsafe.sort.UnsafeSorterIterator;

/**
 * The groups of a {@link GroupSorter}, one after the other, and the records of each as a stream: at
 * any time one record of it is in memory.
 *
 * <p>Records of another group that has the same hash by chance are put aside and come as a group of
 * their own afterwards. They are kept in memory: with a hash of 64 bits they are hardly ever there.
 */
final class SortedGroups {
  private final UnsafeSorterIterator sorted;
  private final ByteInput body = new ByteInput();
  private Entry current = new Entry();
  private Entry ahead = new Entry();
  private boolean hasAhead;
  private int root;
  private byte[] identity = new byte[0];
  private long prefix;
  private List<Entry> strays = new ArrayList<>();
  // The records of a group of strays; null in a group that comes from the sorter.
  private ArrayDeque<Entry> ofStrays;

  /** A record as it was inserted. */
  private static final class Entry {
    private byte[] bytes = new byte[256];
    private int length;
    private long prefix;
    private int root;
    private int identityOffset;
    private int identityLength;
    private final ByteInput input = new ByteInput();

    private void load(UnsafeSorterIterator from) throws IOException {
      length = from.getRecordLength();
      if (bytes.length < length) {
        bytes = new byte[Math.max(length, (int) Math.min(Integer.MAX_VALUE - 8, bytes.length * 2L))];
      }
      Platform.copyMemory(
          from.getBaseObject(),
          from.getBaseOffset(),
          bytes,
          Platform.BYTE_ARRAY_OFFSET,
          length);
      prefix = from.getKeyPrefix();
      input.reset(bytes, 0, length);
      root = input.readVarInt();
      identityLength = input.readLength();
      identityOffset = input.position();
    }

    private int bodyOffset() {
      return identityOffset + identityLength;
    }

    private byte[] identity() {
      return Arrays.copyOfRange(bytes, identityOffset, identityOffset + identityLength);
    }

    private boolean isOf(int otherRoot, byte[] otherIdentity) {
      return root == otherRoot
          && Arrays.equals(
              bytes,
              identityOffset,
              identityOffset + identityLength,
              otherIdentity,
              0,
              otherIdentity.length);
    }
  }

  SortedGroups(UnsafeSorterIterator sorted) throws IOException {
    this.sorted = sorted;
    loadAhead();
  }

  /** Moves to the next group, past what was not read of the last one; false if there is none. */
  boolean nextGroup() throws IOException {
    boolean more = nextRecord();
    while (more) {
      more = nextRecord();
    }
    if (!strays.isEmpty()) {
      begin(strays.get(0));
      ofStrays = new ArrayDeque<>();
      List<Entry> others = new ArrayList<>();
      for (Entry stray : strays) {
        if (stray.isOf(root, identity)) {
          ofStrays.add(stray);
        } else {
          others.add(stray);
        }
      }
      strays = others;
      return true;
    }
    ofStrays = null;
    if (!hasAhead) {
      identity = new byte[0];
      root = -1;
      return false;
    }
    begin(ahead);
    prefix = ahead.prefix;
    return true;
  }

  /** The number of the step that the group is of. */
  int root() {
    return root;
  }

  /** What identifies the group; an array of its own that stays as it is. */
  byte[] identity() {
    return identity;
  }

  /** Moves to the next record of the group; false at the group's end, where it stays. */
  boolean nextRecord() throws IOException {
    if (ofStrays != null) {
      Entry stray = ofStrays.poll();
      return stray != null && show(stray);
    }
    while (hasAhead && root >= 0 && ahead.prefix == prefix) {
      Entry next = ahead;
      ahead = current;
      current = next;
      loadAhead();
      if (next.isOf(root, identity)) {
        return show(next);
      }
      strays.add(next);
      current = new Entry();
    }
    return false;
  }

  /** The body of the current record, until the next call of {@link #nextRecord}. */
  ByteInput body() {
    return body;
  }

  private void begin(Entry first) {
    root = first.root;
    identity = first.identity();
  }

  private boolean show(Entry entry) {
    body.reset(entry.bytes, entry.bodyOffset(), entry.length - entry.bodyOffset());
    return true;
  }

  private void loadAhead() throws IOException {
    hasAhead = sorted.hasNext();
    if (hasAhead) {
      sorted.loadNext();
      ahead.load(sorted);
    }
  }
}
