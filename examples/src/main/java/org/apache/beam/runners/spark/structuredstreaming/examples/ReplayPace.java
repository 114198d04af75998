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
 * The pace of a replay: {@code due(t) = replayed + rate * (t - opened)}, and line {@code i} may be
 * read at {@code t} iff {@code i < due(t)}. Lines are numbered over all splits, so splits that were
 * opened at the same time go through event time together.
 */
final class ReplayPace {
  private static final double NANOS_PER_SECOND = 1e9;

  private final double linesPerSecond;
  private final double replayed;
  private final LongSupplier nanoClock;
  private final long openedNanos;

  /**
   * @param linesPerSecond 0 or less for no limit
   * @param replayed lines due when the reader is opened: 0 at first, then what its mark says
   * @param nanoClock as {@link System#nanoTime}
   */
  ReplayPace(double linesPerSecond, double replayed, LongSupplier nanoClock) {
    this.linesPerSecond = linesPerSecond;
    this.replayed = replayed;
    this.nanoClock = nanoClock;
    this.openedNanos = nanoClock.getAsLong();
  }

  boolean isDue(long line) {
    return linesPerSecond <= 0 || line < due();
  }

  /**
   * What a mark is to keep.
   *
   * @param nextLine what counts where there is no limit
   */
  double replayedUpTo(long nextLine) {
    return linesPerSecond <= 0 ? nextLine : due();
  }

  private double due() {
    return replayed + linesPerSecond * (nanoClock.getAsLong() - openedNanos) / NANOS_PER_SECOND;
  }
}
