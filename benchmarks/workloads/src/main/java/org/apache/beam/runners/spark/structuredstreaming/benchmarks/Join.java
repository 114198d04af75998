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

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.join.CoGbkResult;
import org.apache.beam.sdk.transforms.join.CoGroupByKey;
import org.apache.beam.sdk.transforms.join.KeyedPCollectionTuple;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TupleTag;
import org.joda.time.Duration;

/**
 * Two sources with half of the records each are joined by {@code CoGroupByKey} in windows of a minute:
 * every pair with the same of 100,000 keys, three of each on average, is a result.
 */
final class Join implements Workload {
  private static final long KEYS = 100_000;
  private static final long WINDOW_MILLIS = 60_000;
  private static final TupleTag<Long> LEFT = new TupleTag<>("left");
  private static final TupleTag<Long> RIGHT = new TupleTag<>("right");

  private final Input input;
  private final KeyedRecords left = new KeyedRecords(KEYS);
  private final KeyedRecords right = new KeyedRecords(KEYS, 1L << 40);

  Join(Input input) {
    this.input = input;
  }

  @Override
  public void build(Pipeline pipeline, long records) {
    KeyedPCollectionTuple.of(LEFT, windowed("Left", left, pipeline, records / 2))
        .and(RIGHT, windowed("Right", right, pipeline, records / 2))
        .apply("Join", CoGroupByKey.create())
        .apply("Pairs", ParDo.of(new Pairs()))
        .apply("Results", ParDo.of(new Results.Sink()));
  }

  private PCollection<KV<Long, Long>> windowed(
      String name, KeyedRecords generator, Pipeline pipeline, long records) {
    return pipeline
        .apply("Read" + name, input.read(generator, records))
        .apply("Window" + name, Window.into(FixedWindows.of(Duration.millis(WINDOW_MILLIS))));
  }

  private static long pair(long left, long right) {
    return (left << 10) | right;
  }

  @Override
  public Totals expected(long records) {
    Results.Expected expected = new Results.Expected();
    Map<Long, long[]> lefts = new HashMap<>();
    long from = 0;
    for (long number = 0; number < records / 2; number++) {
      lefts.merge(left.key(number), new long[] {left.value(number)}, Join::concatenated);
      long window = left.millis(number) / WINDOW_MILLIS;
      if (number == records / 2 - 1 || left.millis(number + 1) / WINDOW_MILLIS > window) {
        for (; from <= number; from++) {
          for (long value : lefts.getOrDefault(right.key(from), new long[0])) {
            expected.add(
                right.key(from), (window + 1) * WINDOW_MILLIS - 1, pair(value, right.value(from)));
          }
        }
        lefts.clear();
      }
    }
    return expected.totals();
  }

  private static long[] concatenated(long[] first, long[] second) {
    long[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  private static final class Pairs extends DoFn<KV<Long, CoGbkResult>, KV<Long, Long>> {
    @ProcessElement
    public void process(
        @Element KV<Long, CoGbkResult> group, OutputReceiver<KV<Long, Long>> output) {
      Iterable<Long> rights = group.getValue().getAll(RIGHT);
      for (long left : group.getValue().getAll(LEFT)) {
        for (long right : rights) {
          output.output(KV.of(group.getKey(), pair(left, right)));
        }
      }
    }
  }
}
