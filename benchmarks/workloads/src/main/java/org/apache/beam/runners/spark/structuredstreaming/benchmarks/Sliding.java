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
package org.apache.beam.runners.spark.structuredstreaming.benchmarks;

import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.joda.time.Duration;

/** The sum of each of 1,000 keys in windows of a minute, one of which begins every five seconds. */
final class Sliding implements Workload {
  private static final int KEYS = 1000;
  private static final long PERIOD_MILLIS = 5000;
  private static final int PERIODS = 12;

  private final KeyedRecords generator = new KeyedRecords(KEYS);

  @Override
  public void build(Pipeline pipeline, long records) {
    pipeline
        .apply("Read", Input.STREAM.read(generator, records))
        .apply(
            "Window",
            Window.into(
                SlidingWindows.of(Duration.millis(PERIODS * PERIOD_MILLIS))
                    .every(Duration.millis(PERIOD_MILLIS))))
        .apply("Sum", Sum.longsPerKey())
        .apply("Results", ParDo.of(new Results.Sink()));
  }

  /** Sums of single periods, of which a window is twelve. */
  @Override
  public Totals expected(long records) {
    Results.Expected expected = new Results.Expected();
    long[][] sums = new long[PERIODS][KEYS];
    long[][] counts = new long[PERIODS][KEYS];
    long last = generator.millis(records - 1) / PERIOD_MILLIS;
    long number = 0;
    for (long period = 0; period < last + PERIODS; period++) {
      int slot = (int) (period % PERIODS);
      sums[slot] = new long[KEYS];
      counts[slot] = new long[KEYS];
      while (number < records && generator.millis(number) / PERIOD_MILLIS == period) {
        sums[slot][(int) generator.key(number)] += generator.value(number);
        counts[slot][(int) generator.key(number)]++;
        number++;
      }
      for (int key = 0; key < KEYS; key++) {
        long sum = 0;
        long count = 0;
        for (int i = 0; i < PERIODS; i++) {
          sum += sums[i][key];
          count += counts[i][key];
        }
        if (count > 0) {
          expected.add(key, (period + 1) * PERIOD_MILLIS - 1, sum);
        }
      }
    }
    return expected.totals();
  }
}
