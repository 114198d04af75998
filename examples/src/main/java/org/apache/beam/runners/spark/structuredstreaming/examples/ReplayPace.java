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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import java.util.function.LongSupplier;

/**
 * The pace of a replay: line {@code i} may be read iff {@code i < due}, and {@code due} grows with
 * real time at the rate of the replay. Lines are numbered over all splits, so splits that are asked
 * at the same times go through event time together.
 *
 * <p>What passes while nobody asks counts as a second at most: a replay that was kept waiting goes on
 * at its pace and does not catch up. Used by one thread.
 */
final class ReplayPace {
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private final double linesPerSecond;
  private final LongSupplier nanoClock;
  private double due;
  private long askedNanos;

  /**
   * @param linesPerSecond 0 or less for no limit
   * @param replayed lines due when the reader is opened: 0 at first, then what its mark says
   * @param nanoClock as {@link System#nanoTime}
   */
  ReplayPace(double linesPerSecond, double replayed, LongSupplier nanoClock) {
    this.linesPerSecond = linesPerSecond;
    this.due = replayed;
    this.nanoClock = nanoClock;
    this.askedNanos = nanoClock.getAsLong();
  }

  boolean isDue(long line) {
    if (linesPerSecond <= 0) {
      return true;
    }
    long now = nanoClock.getAsLong();
    due += linesPerSecond * Math.min(now - askedNanos, NANOS_PER_SECOND) / NANOS_PER_SECOND;
    askedNanos = now;
    return line < due;
  }

  /**
   * What a mark is to keep.
   *
   * @param nextLine what counts where there is no limit
   */
  double replayedUpTo(long nextLine) {
    return linesPerSecond <= 0 ? nextLine : due;
  }
}
