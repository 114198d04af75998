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
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;

/** Ten DoFns one after the other, each of which makes a new record of every record. */
final class Chain implements Workload {
  private static final int STEPS = 10;

  private final KeyedRecords generator = new KeyedRecords(1000);

  @Override
  public void build(Pipeline pipeline, long records) {
    PCollection<KV<Long, Long>> values =
        pipeline.apply("Read", Input.STREAM.read(generator, records));
    for (int step = 0; step < STEPS; step++) {
      values = values.apply("Step" + step, ParDo.of(new Step(step)));
    }
    values.apply("Results", ParDo.of(new Results.Sink()));
  }

  private static long next(int step, long value) {
    return (value * 31 + step) & 0xFFFFF;
  }

  @Override
  public Totals expected(long records) {
    Results.Expected expected = new Results.Expected();
    long window = GlobalWindow.INSTANCE.maxTimestamp().getMillis();
    for (long number = 0; number < records; number++) {
      long value = generator.value(number);
      for (int step = 0; step < STEPS; step++) {
        value = next(step, value);
      }
      expected.add(generator.key(number), window, value);
    }
    return expected.totals();
  }

  private static final class Step extends DoFn<KV<Long, Long>, KV<Long, Long>> {
    private final int step;

    Step(int step) {
      this.step = step;
    }

    @ProcessElement
    public void process(
        @Element KV<Long, Long> record, OutputReceiver<KV<Long, Long>> output) {
      output.output(KV.of(record.getKey(), next(step, record.getValue())));
    }
  }
}
