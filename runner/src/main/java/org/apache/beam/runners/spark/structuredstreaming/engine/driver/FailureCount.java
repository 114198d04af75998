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

/**
 * Counts a pipeline's failures in a row, and so says whether its query is started once more and when.
 *
 * <pre>
 * progress(s)    = an epoch e that start s has run is committed, with rowsRead(e) &gt; 0
 * failures(s)    = 1 if s is the first start or progress(s), else failures(s - 1) + 1
 * restart after s   iff failures(s) &lt;= maxRestarts
 * backoff(s)     = restartBackoffMillis * 2 ^ min(failures(s) - 1, 10)
 * </pre>
 *
 * <p>An epoch in which no source has read a row is no progress, whatever else it did: a reader that is
 * opened anew may have nothing at first, and timers by processing time may go on for ever, while what
 * fails every time is still ahead.
 */
final class FailureCount {
  private static final int MAX_BACKOFF_DOUBLINGS = 10;

  private final int maxRestarts;
  private final long backoffMillis;
  private int failures;

  /**
   * @param backoffMillis the wait before the first restart
   */
  FailureCount(int maxRestarts, long backoffMillis) {
    this.maxRestarts = maxRestarts;
    this.backoffMillis = backoffMillis;
  }

  /**
   * Takes note of a failure of the query.
   *
   * @param firstEpochWithRows the first epoch that the failed start has run and in which a source has
   *     read a row, -1 if there is none
   * @param committedEpoch the last committed epoch, -1 if there is none
   */
  void failed(long firstEpochWithRows, long committedEpoch) {
    boolean progress = firstEpochWithRows >= 0 && firstEpochWithRows <= committedEpoch;
    failures = progress ? 1 : failures + 1;
  }

  /** Failures in a row, that is the number of the restart which the last one asks for. */
  int failures() {
    return failures;
  }

  boolean mayRestart() {
    return failures <= maxRestarts;
  }

  /** Milliseconds to wait before the restart. */
  long backoffMillis() {
    return backoffMillis << Math.min(failures - 1, MAX_BACKOFF_DOUBLINGS);
  }
}
