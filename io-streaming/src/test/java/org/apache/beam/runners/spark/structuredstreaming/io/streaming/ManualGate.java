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

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Lets epochs start up to a limit that the test moves. */
final class ManualGate implements EpochGate {
  final List<Long> committed = new CopyOnWriteArrayList<>();
  final AtomicInteger refused = new AtomicInteger();
  private volatile long endEpoch;

  /**
   * @param endEpoch the first epoch that may not start
   */
  ManualGate(long endEpoch) {
    this.endEpoch = endEpoch;
  }

  void openUpTo(long newEndEpoch) {
    endEpoch = newEndEpoch;
  }

  @Override
  public boolean mayStart(long epoch) {
    if (epoch < endEpoch) {
      return true;
    }
    refused.incrementAndGet();
    return false;
  }

  @Override
  public boolean isDraining(long epoch) {
    return false;
  }

  @Override
  public void epochCommitted(long endOffset) {
    committed.add(endOffset);
  }

  @Override
  public Map<String, String> sourceMetrics(int sourceIndex) {
    return Map.of(SourceMetricNames.BACKLOG_BYTES, "7" + sourceIndex);
  }
}
