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
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.Duration;

/**
 * Three GroupByKeys one after the other, in windows of a minute: sums of 100,000 keys, of these those of
 * 1,000 keys, and of these those of 10.
 */
final class Chained implements Workload {
  private static final int KEYS = 100_000;
  private static final int SOME_KEYS = 1000;
  private static final int FEW_KEYS = 10;
  private static final long WINDOW_MILLIS = 60_000;

  private final KeyedRecords generator = new KeyedRecords(KEYS);

  @Override
  public void build(Pipeline pipeline, long records) {
    PCollection<KV<Long, Long>> sums =
        pipeline
            .apply("Read", Input.STREAM.read(generator, records))
            .apply("Window", Window.into(FixedWindows.of(Duration.millis(WINDOW_MILLIS))))
            .apply("SumOfEach", new SumOfGroups());
    for (int keys : new int[] {SOME_KEYS, FEW_KEYS}) {
      sums =
          sums.apply("To" + keys, ParDo.of(new Coarser(keys)))
              .apply("SumOf" + keys, new SumOfGroups());
    }
    sums.apply("Results", ParDo.of(new Results.Sink()));
  }

  @Override
  public Totals expected(long records) {
    return KeyedSums.expected(records, FEW_KEYS, WINDOW_MILLIS, generator);
  }

  private static final class Coarser extends DoFn<KV<Long, Long>, KV<Long, Long>> {
    private final int keys;

    Coarser(int keys) {
      this.keys = keys;
    }

    @ProcessElement
    public void process(@Element KV<Long, Long> sum, OutputReceiver<KV<Long, Long>> output) {
      output.output(KV.of(sum.getKey() % keys, sum.getValue()));
    }
  }
}
