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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long splits may read in an epoch, so that the work of the whole epoch takes about as long as is
 * wanted: what is read for a moment may keep later levels busy for long, and more splits than cores read
 * one behind the other.
 *
 * <p>With {@code T} the length wanted, {@code r} how long the last epoch read, {@code w} how long it worked
 * on elements and timers in all levels ({@link EpochReport#workNanos}), and {@code s} the share of {@code T}
 * that splits may read for:
 *
 * <pre>
 * s(first) = 1 / 64
 * s(next)  = s                                              if r &lt; s T: the limit was not reached
 *          = clamp(s clamp(T / w, 1 / 64, 4), 1e-6, 1)   else
 * </pre>
 *
 * <p>What an epoch costs besides, for its log entries, say, on a file system that is slow, is no work: to
 * read less would not make it less.
 *
 * <p>Used by the query's thread alone.
 */
final class ReadPace {
  private static final Logger LOG = LoggerFactory.getLogger(ReadPace.class);
  private static final double FIRST = 1.0 / 64;
  private static final double LEAST = 1e-6;
  private static final double LEAST_FACTOR = 1.0 / 64;
  private static final double GREATEST_FACTOR = 4;

  private final long wantedNanos;
  private final int cores;
  private double share = FIRST;
  private double shareTold = 1;

  /**
   * @param wantedMillis how long an epoch should take, above 0
   * @param cores that tasks of a level run on at a time
   */
  ReadPace(long wantedMillis, int cores) {
    this.wantedNanos = TimeUnit.MILLISECONDS.toNanos(wantedMillis);
    this.cores = cores;
  }

  /** The share for the next epoch. */
  double share() {
    return share;
  }

  /** Takes note of an epoch whose job has ended. */
  void epochDone(EpochReport report) {
    epochTook((double) report.longestReadNanos(), (double) report.workNanos(cores));
  }

  void epochTook(double readNanos, double workNanos) {
    if (workNanos <= 0 || readNanos < share * wantedNanos) {
      return;
    }
    double factor =
        Math.max(LEAST_FACTOR, Math.min(GREATEST_FACTOR, wantedNanos / workNanos));
    share = Math.max(LEAST, Math.min(1, share * factor));
    if (share < FIRST && (share < shareTold / 2 || share > shareTold * 2)) {
      shareTold = share;
      LOG.info(
          "The work of an epoch took {} ms, with --maxBatchDurationMillis={}: splits read for {} ms in the"
              + " next one",
          Math.round(workNanos / 1e6),
          TimeUnit.NANOSECONDS.toMillis(wantedNanos),
          String.format("%.3f", share * wantedNanos / 1e6));
    }
  }
}
