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
import java.util.NavigableSet;
import java.util.TreeSet;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;

/**
 * Which time buckets of a step have entries, how many, and from when on.
 *
 * <p>A bucket is {@code time >> BUCKET_BITS} (about a second of millis). Above the buckets stands a
 * tree with {@code 2^FANOUT_BITS} children a node, so that the first bucket is found by reading the
 * children of one node per level, however many buckets there are:
 *
 * <pre>
 * (step, kind, domain, 0, bucket >> F)      -> (bucket) -> (entries, bound, exact)
 * (step, kind, domain, 1, bucket >> 2F)     -> (bucket >> F) -> number of its children
 * (step, kind, domain, 2, bucket >> 3F)     -> (bucket >> 2F) -> number of its children
 * (step, kind, domain, 3, 0)                -> (bucket >> 3F) -> number of its children
 * </pre>
 *
 * <p>Invariants: a bucket has a row iff it has entries, an inner node iff it has children. {@code
 * bound <= earliest entry}, with equality if {@code exact}. Adding or removing an entry of a live
 * bucket changes that bucket's row alone; a bucket's birth or end changes a row per level, fewer if
 * it has neighbours.
 */
final class TimeIndex {
  static final int BUCKET_BITS = 10;
  private static final int FANOUT_BITS = 10;
  private static final int LEVELS = 4;

  private final StepRows rows;
  private final byte kind;
  private final int domain;
  private final Map<Long, Bucket> buckets = new HashMap<>();
  // Children of the nodes whose rows were scanned, kept in step with later births and ends.
  private final Map<Node, NavigableSet<Long>> scanned = new HashMap<>();
  private Bucket first;
  private boolean firstKnown;

  TimeIndex(StepRows rows, byte kind, int domain) {
    this.rows = rows;
    this.kind = kind;
    this.domain = domain;
  }

  static long bucketOf(long time) {
    return time >> BUCKET_BITS;
  }

  /** One more entry at {@code time}. */
  void added(long time) {
    Bucket bucket = bucket(bucketOf(time));
    if (bucket.entries == 0) {
      bucket.bound = time;
      bucket.exact = true;
      link(bucket.number);
    } else if (time < bucket.bound) {
      bucket.bound = time;
      bucket.exact = true;
    }
    bucket.entries++;
    bucket.changed = true;
    if (firstKnown && (first == null || bucket.number < first.number)) {
      first = bucket;
    }
  }

  /**
   * One entry at {@code time} less.
   *
   * @param mayBeLast whether there may be no other entry at {@code time} now
   */
  void removed(long time, boolean mayBeLast) {
    Bucket bucket = bucket(bucketOf(time));
    if (bucket.entries <= 0) {
      throw new IllegalStateException(
          rows.stepName() + ": an entry at " + time + " ms was removed from an empty bucket");
    }
    bucket.entries--;
    bucket.changed = true;
    if (mayBeLast && time == bucket.bound) {
      bucket.exact = false;
    }
    if (bucket.entries == 0) {
      unlink(bucket.number);
      if (bucket == first) {
        first = null;
        firstKnown = false;
      }
    }
  }

  /** The earliest bucket with entries, null if there is none. */
  Bucket first() {
    if (!firstKnown) {
      long node = 0;
      for (int level = LEVELS - 1; level >= 0; level--) {
        NavigableSet<Long> children = children(level, node);
        if (children.isEmpty()) {
          if (level < LEVELS - 1) {
            throw new IllegalStateException(
                rows.stepName() + ": index node " + node + " of level " + level + " has no child");
          }
          firstKnown = true;
          return null;
        }
        node = children.first();
      }
      first = bucket(node);
      firstKnown = true;
    }
    return first;
  }

  /** Tells the index what a scan of the bucket found to be its earliest entry. */
  void setEarliest(Bucket bucket, long time) {
    if (bucket.bound != time || !bucket.exact) {
      bucket.bound = time;
      bucket.exact = true;
      bucket.changed = true;
    }
  }

  /** Writes the changed buckets to the rows. */
  void flush() {
    for (Bucket bucket : buckets.values()) {
      if (bucket.changed) {
        byte[] prefix = nodePrefix(0, bucket.number >> FANOUT_BITS);
        byte[] suffix = childSuffix(bucket.number);
        if (bucket.entries == 0) {
          rows.remove(prefix, suffix);
        } else {
          ByteOutput value = new ByteOutput().writeVarLong(bucket.entries).writeLong(bucket.bound);
          rows.put(prefix, suffix, value.writeByte(bucket.exact ? 1 : 0).toByteArray());
        }
        bucket.changed = false;
      }
    }
  }

  private Bucket bucket(long number) {
    Bucket bucket = buckets.get(number);
    if (bucket == null) {
      bucket = new Bucket(number);
      byte[] value = rows.get(nodePrefix(0, number >> FANOUT_BITS), childSuffix(number));
      if (value != null) {
        bucket.read(value);
      }
      buckets.put(number, bucket);
    }
    return bucket;
  }

  /** A bucket is born: enters it and those of its ancestors that were not there. */
  private void link(long bucketNumber) {
    long child = bucketNumber;
    for (int level = 0; level < LEVELS; level++) {
      long node = parent(level, child);
      NavigableSet<Long> children = scanned.get(new Node(level, node));
      if (children != null) {
        children.add(child);
      }
      // The parent's row counts its children; one that had none must be entered above, too.
      if (level == LEVELS - 1 || changeChildren(level + 1, node, 1) > 1) {
        return;
      }
      child = node;
    }
  }

  /** A bucket has no entries any more: takes it out, and the ancestors it leaves without child. */
  private void unlink(long bucketNumber) {
    long child = bucketNumber;
    for (int level = 0; level < LEVELS; level++) {
      long node = parent(level, child);
      NavigableSet<Long> children = scanned.get(new Node(level, node));
      if (children != null) {
        children.remove(child);
      }
      if (level == LEVELS - 1 || changeChildren(level + 1, node, -1) > 0) {
        return;
      }
      child = node;
    }
  }

  /** Changes how many children {@code node}, itself a child on {@code level}, has. */
  private long changeChildren(int level, long node, int delta) {
    byte[] prefix = nodePrefix(level, parent(level, node));
    byte[] suffix = childSuffix(node);
    byte[] value = rows.get(prefix, suffix);
    long count = (value == null ? 0 : new ByteInput(value).readVarLong()) + delta;
    if (count == 0) {
      rows.remove(prefix, suffix);
    } else {
      rows.put(prefix, suffix, new ByteOutput().writeVarLong(count).toByteArray());
    }
    return count;
  }

  private NavigableSet<Long> children(int level, long node) {
    Node key = new Node(level, node);
    NavigableSet<Long> children = scanned.get(key);
    if (children == null) {
      if (level == 0) {
        // Births and ends of buckets are known to the buckets before they are to the rows.
        flush();
      }
      NavigableSet<Long> found = new TreeSet<>();
      rows.forEach(
          nodePrefix(level, node),
          row -> found.add(new ByteInput(row.suffix()).readOrderedLong()));
      scanned.put(key, found);
      children = found;
    }
    return children;
  }

  private static long parent(int level, long child) {
    return level == LEVELS - 1 ? 0 : child >> FANOUT_BITS;
  }

  private byte[] nodePrefix(int level, long node) {
    return rows.prefix(kind).writeByte(domain).writeByte(level).writeOrderedLong(node).toByteArray();
  }

  private static byte[] childSuffix(long child) {
    return new ByteOutput(Long.BYTES).writeOrderedLong(child).toByteArray();
  }

  private record Node(int level, long number) {}

  /** A bucket's row, in memory. */
  static final class Bucket {
    private final long number;
    private long entries;
    private long bound;
    private boolean exact;
    private boolean changed;

    private Bucket(long number) {
      this.number = number;
    }

    private void read(byte[] value) {
      ByteInput reader = new ByteInput(value);
      entries = reader.readVarLong();
      bound = reader.readLong();
      exact = reader.readByte() != 0;
    }

    long number() {
      return number;
    }

    /** No entry of the bucket is earlier. */
    long bound() {
      return bound;
    }

    /** Whether there is an entry at {@link #bound}. */
    boolean exact() {
      return exact;
    }
  }
}
