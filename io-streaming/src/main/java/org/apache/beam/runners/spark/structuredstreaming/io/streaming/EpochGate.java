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

import java.util.Map;

/**
 * Decides on the driver when the next epoch may start, and knows what became of the last one. The
 * runner implements it, one for each query; all sources of a query share it.
 *
 * <p>Every method is called by the thread that executes Spark's streaming query, except {@link
 * #sourceMetrics}, which a listener's thread may call too.
 */
public interface EpochGate {
  /**
   * Whether {@code epoch} may start now. Every source asks once in each round in which Spark looks
   * for new data; the answer must be the same for all sources within a round, else their offsets
   * part. An epoch that Spark had logged but not committed before a restart is run again without
   * asking.
   */
  boolean mayStart(long epoch);

  /**
   * Whether the query drains from this epoch or an earlier one on: sources that a drain ends read
   * nothing in it. Asked whenever the epoch is planned, and the answer for an epoch is the same ever
   * after, over restarts too.
   */
  boolean isDraining(long epoch);

  /**
   * Called by every source once Spark has written an epoch to its commit log, when the following
   * epoch is logged; the call for the last epoch of a query is missing therefore. Repeated calls
   * with the same value are to be expected, one for each source.
   *
   * @param endOffset the end of the committed epoch: epoch {@code endOffset - 1} is committed
   */
  void epochCommitted(long endOffset);

  /**
   * How much of {@code maxBatchDurationMillis} splits may read for in the epoch that is planned: above 0
   * and at most 1. The same for all sources of an epoch.
   */
  default double readShare() {
    return 1;
  }

  /**
   * What Spark's progress shall report of one source, keys as in {@link SourceMetricNames}.
   *
   * @param sourceIndex the source's position among the sources of the query
   */
  Map<String, String> sourceMetrics(int sourceIndex);
}
