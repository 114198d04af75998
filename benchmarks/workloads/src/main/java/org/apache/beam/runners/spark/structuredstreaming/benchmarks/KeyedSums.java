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
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.Duration;

/**
 * The sum of the values of each of 1,000 keys in each minute, which has 300,000 records, however it is
 * made.
 */
final class KeyedSums implements Workload {
  private static final int KEYS = 1000;
  private static final long WINDOW_MILLIS = 60_000;

  private final Input input;
  private final PTransform<? super PCollection<KV<Long, Long>>, PCollection<KV<Long, Long>>> sum;
  private final KeyedRecords generator = new KeyedRecords(KEYS);

  KeyedSums(
      Input input, PTransform<? super PCollection<KV<Long, Long>>, PCollection<KV<Long, Long>>> sum) {
    this.input = input;
    this.sum = sum;
  }

  @Override
  public void build(Pipeline pipeline, long records) {
    pipeline
        .apply("Read", input.read(generator, records))
        .apply("Window", Window.into(FixedWindows.of(Duration.millis(WINDOW_MILLIS))))
        .apply("Sum", sum)
        .apply("Results", ParDo.of(new Results.Sink()));
  }

  @Override
  public Totals expected(long records) {
    return expected(records, KEYS, WINDOW_MILLIS, generator);
  }

  /** Sums in each window by key, of which only the remainder counts. */
  static Totals expected(long records, int keys, long windowMillis, KeyedRecords generator) {
    Results.Expected expected = new Results.Expected();
    long[] sums = new long[keys];
    boolean[] seen = new boolean[keys];
    for (long number = 0; number < records; number++) {
      int key = (int) (generator.key(number) % keys);
      sums[key] += generator.value(number);
      seen[key] = true;
      long window = generator.millis(number) / windowMillis;
      if (number == records - 1 || generator.millis(number + 1) / windowMillis > window) {
        for (int i = 0; i < keys; i++) {
          if (seen[i]) {
            expected.add(i, (window + 1) * windowMillis - 1, sums[i]);
          }
          sums[i] = 0;
          seen[i] = false;
        }
      }
    }
    return expected.totals();
  }
}
