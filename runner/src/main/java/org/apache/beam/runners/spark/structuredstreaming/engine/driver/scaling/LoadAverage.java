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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling;

import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The load of a pipeline, averaged over intervals. With {@code t(e)} the processing time of epoch
 * {@code e}, and {@code D} the trigger interval:
 *
 * <pre>
 * load(interval) = (sum of t(e)) / (number of e) / D   over all epochs e that end in the interval
 * </pre>
 *
 * <p>An interval ends with the first epoch that ends when its time is over, and the next one begins
 * there: so each has at least one epoch. For one thread.
 */
final class LoadAverage {
  private final long intervalNanos;
  private final long triggerIntervalMillis;
  private long startNanos;
  private long sumMillis;
  private int epochs;

  /**
   * @param nowNanos when the first interval begins
   */
  LoadAverage(long intervalMillis, long triggerIntervalMillis, long nowNanos) {
    this.intervalNanos = TimeUnit.MILLISECONDS.toNanos(intervalMillis);
    this.triggerIntervalMillis = triggerIntervalMillis;
    this.startNanos = nowNanos;
  }

  /**
   * The load of an interval.
   *
   * @param ratio mean processing time over trigger interval
   * @param epochs that ended in the interval
   */
  record Load(double ratio, double meanMillis, int epochs) {}

  /** Takes note of an epoch, and gives the load of the interval if that ends with it. */
  Optional<Load> epochEnded(long processingMillis, long nowNanos) {
    sumMillis += processingMillis;
    epochs++;
    if (nowNanos - startNanos < intervalNanos) {
      return Optional.empty();
    }
    double mean = (double) sumMillis / epochs;
    Load load = new Load(mean / triggerIntervalMillis, mean, epochs);
    startNanos = nowNanos;
    sumMillis = 0;
    epochs = 0;
    return Optional.of(load);
  }
}
