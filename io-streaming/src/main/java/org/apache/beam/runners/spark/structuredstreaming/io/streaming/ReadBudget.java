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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

/**
 * How much one task may still read of its split in its epoch.
 *
 * <p>The record limit {@code L} of a source is divided over its {@code n} splits; with {@code r = L
 * mod n}, split {@code s} in epoch {@code e} may read
 *
 * <pre>
 * share(s, e) = floor(L / n) + (1 if (s - e * r) mod n &lt; r, else 0)
 * </pre>
 *
 * so that the shares of an epoch sum up to {@code L}, and the {@code r} splits with one more walk on
 * from epoch to epoch: each has its turn within {@code ceil(n / r)} epochs. The time limit runs from
 * the first record asked for; one record is always tried if the share allows. One thread.
 */
final class ReadBudget {
  /** The clock is read anew after at most this many records. */
  private static final int LONGEST_STRIDE = 64;

  private static final long SHORT_NANOS = 1_000_000;

  private final long maxRecords;
  private final long maxNanos;
  private long records;
  private long startNanos;
  private long lastCheckNanos;
  private long nextCheck;
  private int stride = 1;

  private ReadBudget(long maxRecords, long maxNanos) {
    this.maxRecords = maxRecords;
    this.maxNanos = maxNanos;
  }

  static ReadBudget of(
      ReadLimits limits, int splitId, int splitCount, long epoch, double readShare) {
    long maxRecords =
        limits.maxRecordsPerMicroBatch() <= 0
            ? Long.MAX_VALUE
            : share(limits.maxRecordsPerMicroBatch(), splitId, splitCount, epoch);
    long maxMillis = limits.maxBatchDurationMillis();
    boolean unlimited = maxMillis <= 0 || maxMillis > Long.MAX_VALUE / 1_000_000;
    long maxNanos = unlimited ? Long.MAX_VALUE : (long) (maxMillis * 1_000_000 * readShare);
    return new ReadBudget(maxRecords, maxNanos);
  }

  static long share(long limit, int splitId, int splitCount, long epoch) {
    long remainder = limit % splitCount;
    long firstWithMore = Math.floorMod(epoch, splitCount) * remainder;
    boolean more = Math.floorMod(splitId - firstWithMore, (long) splitCount) < remainder;
    return limit / splitCount + (more ? 1 : 0);
  }

  /** Takes one record out of the budget, or says that there is none left. */
  boolean take() {
    if (records >= maxRecords) {
      return false;
    }
    if (maxNanos != Long.MAX_VALUE && records >= nextCheck && isTimeOver()) {
      return false;
    }
    records++;
    return true;
  }

  /** Reads the clock. The stride grows while records come fast and is one while they are slow. */
  private boolean isTimeOver() {
    long now = System.nanoTime();
    if (records <= 1) {
      // The wait for the first record is none that more time would make shorter.
      startNanos = now;
    } else {
      boolean fast = now - lastCheckNanos < SHORT_NANOS;
      stride = fast ? Math.min(LONGEST_STRIDE, stride * 2) : 1;
    }
    lastCheckNanos = now;
    nextCheck = records + stride;
    return now - startNanos >= maxNanos;
  }
}
