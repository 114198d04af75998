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
 * The multiset of a step's watermark holds in one partition, durable: {@code (step, HOLD, bucket)
 * -> (time) -> count}, with a {@link TimeIndex} over the buckets. All times are event time millis.
 * What else of a step is counted by event time is kept in the same way, under kinds of its own.
 *
 * <p>Invariant: {@link #earliest} is the least time whose count is positive. A change costs a row;
 * asking for the earliest hold costs nothing but, once the earliest of a bucket has been released,
 * a scan of the times in that one bucket.
 */
public final class HoldIndex {
  private final StepRows rows;
  private final byte kind;
  private final TimeIndex index;
  // The distinct times of the buckets that were scanned, kept in step with later changes.
  private final Map<Long, NavigableSet<Long>> scanned = new HashMap<>();

  public HoldIndex(StepRows rows) {
    this(rows, RowKeys.HOLD, RowKeys.HOLD_BUCKETS);
  }

  /**
   * A multiset that is not of the step's watermark holds.
   *
   * @param kind kind of the rows of times
   * @param bucketsKind kind of the rows of the index over them
   */
  public HoldIndex(StepRows rows, byte kind, byte bucketsKind) {
    this.rows = rows;
    this.kind = kind;
    this.index = new TimeIndex(rows, bucketsKind, 0);
  }

  /**
   * Replaces one hold by another.
   *
   * @param oldHold a hold that was added before, or null for none
   * @param newHold null for none
   */
  public void change(Long oldHold, Long newHold) {
    if (oldHold != null && oldHold.equals(newHold)) {
      return;
    }
    if (newHold != null) {
      add(newHold);
    }
    if (oldHold != null) {
      release(oldHold);
    }
  }

  /** Adds a hold. */
  public void add(long time) {
    long count = count(time);
    setCount(time, count + 1, count == 0);
    index.added(time);
    NavigableSet<Long> times = scanned.get(TimeIndex.bucketOf(time));
    if (times != null) {
      times.add(time);
    }
  }

  /**
   * Releases a hold.
   *
   * @throws IllegalStateException if there is none at {@code time}
   */
  public void release(long time) {
    long count = count(time);
    if (count == 0) {
      throw new IllegalStateException(
          rows.stepName() + ": no watermark hold at " + time + " ms to release");
    }
    setCount(time, count - 1, false);
    NavigableSet<Long> times = scanned.get(TimeIndex.bucketOf(time));
    if (times != null && count == 1) {
      times.remove(time);
    }
    index.removed(time, count == 1);
  }

  /** The earliest hold in millis, {@link Long#MAX_VALUE} if there is none. */
  public long earliest() {
    TimeIndex.Bucket bucket = index.first();
    if (bucket == null) {
      return Long.MAX_VALUE;
    }
    if (!bucket.exact()) {
      index.setEarliest(bucket, times(bucket.number()).first());
    }
    return bucket.bound();
  }

  /** Writes what is in memory to the step's rows. */
  public void flush() {
    index.flush();
  }

  private NavigableSet<Long> times(long bucket) {
    NavigableSet<Long> times = scanned.get(bucket);
    if (times == null) {
      NavigableSet<Long> found = new TreeSet<>();
      rows.forEach(
          bucketPrefix(bucket), row -> found.add(new ByteInput(row.suffix()).readOrderedLong()));
      scanned.put(bucket, found);
      times = found;
    }
    if (times.isEmpty()) {
      throw new IllegalStateException(
          rows.stepName() + ": no watermark hold in bucket " + bucket + ", which is to have some");
    }
    return times;
  }

  private long count(long time) {
    byte[] value = rows.get(bucketPrefix(TimeIndex.bucketOf(time)), timeSuffix(time));
    return value == null ? 0 : new ByteInput(value).readVarLong();
  }

  private void setCount(long time, long count, boolean isNew) {
    byte[] prefix = bucketPrefix(TimeIndex.bucketOf(time));
    byte[] suffix = timeSuffix(time);
    if (count == 0) {
      rows.remove(prefix, suffix);
    } else if (isNew) {
      rows.insert(prefix, suffix, new ByteOutput().writeVarLong(count).toByteArray());
    } else {
      rows.put(prefix, suffix, new ByteOutput().writeVarLong(count).toByteArray());
    }
  }

  private byte[] bucketPrefix(long bucket) {
    return rows.prefix(kind).writeOrderedLong(bucket).toByteArray();
  }

  private static byte[] timeSuffix(long time) {
    return new ByteOutput(Long.BYTES).writeOrderedLong(time).toByteArray();
  }
}
