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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.util.concurrent.TimeUnit;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;

/**
 * How much a splittable DoFn may do in one epoch and partition: as much as a split of a source may be
 * read. The time begins with the first call of {@link #start}.
 */
final class TurnBudget {
  /** What a call gets when nothing is left: enough for one claim, after which it is stopped. */
  private static final long LEAST_MILLIS = 1;

  private final long maxNanos;
  private long outputsLeft;
  private boolean started;
  private long startNanos;

  /**
   * @param maxMillis at least 1
   * @param maxOutputs at least 1
   */
  TurnBudget(long maxMillis, long maxOutputs) {
    this.maxNanos = TimeUnit.MILLISECONDS.toNanos(maxMillis);
    this.outputsLeft = maxOutputs;
  }

  /**
   * @param partitions that divide the records of an epoch among them
   */
  static TurnBudget of(SparkStructuredStreamingPipelineOptions options, int partitions) {
    long records = options.getMaxRecordsPerMicroBatch();
    long outputs = records <= 0 ? Long.MAX_VALUE : (records + partitions - 1) / partitions;
    return new TurnBudget(options.getMaxBatchDurationMillis(), outputs);
  }

  void start() {
    if (!started) {
      started = true;
      startNanos = System.nanoTime();
    }
  }

  void spend(long outputs) {
    outputsLeft -= outputs;
  }

  boolean isSpent() {
    return outputsLeft <= 0 || (started && leftNanos() <= 0);
  }

  /** How long the next call may go on, at least 1 ms. */
  long leftMillis() {
    return Math.max(LEAST_MILLIS, TimeUnit.NANOSECONDS.toMillis(leftNanos()));
  }

  /** How many elements the next call may output, at least 1. */
  int leftOutputs() {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, outputsLeft));
  }

  private long leftNanos() {
    return maxNanos - (System.nanoTime() - startNanos);
  }
}
