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
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.values.KV;

/**
 * A GroupByKey with a key for every record or nearly so, and 64 bytes beside it: all of the data goes
 * through the shuffle and has to be sorted or hashed, as there is nothing to put together.
 */
final class Sort implements Workload {
  private static final String ZEROS = "0".repeat(64);

  private final Lines generator = new Lines();

  /** Lines of text under a random key. */
  record Lines() implements Generator<KV<Long, String>> {
    static long key(long number) {
      return Results.mix(number) >>> 24;
    }

    @Override
    public KV<Long, String> record(long number) {
      String digits = Long.toString(number);
      return KV.of(key(number), ZEROS.substring(digits.length()) + digits);
    }

    @Override
    public Coder<KV<Long, String>> coder() {
      return KvCoder.of(VarLongCoder.of(), StringUtf8Coder.of());
    }
  }

  @Override
  public void build(Pipeline pipeline, long records) {
    pipeline
        .apply("Read", Input.BATCH.read(generator, records))
        .apply("Group", GroupByKey.create())
        .apply("Numbers", ParDo.of(new Numbers()))
        .apply("Results", ParDo.of(new Results.Sink()));
  }

  @Override
  public Totals expected(long records) {
    Results.Expected expected = new Results.Expected();
    long window = GlobalWindow.INSTANCE.maxTimestamp().getMillis();
    for (long number = 0; number < records; number++) {
      expected.add(Lines.key(number), window, number);
    }
    return expected.totals();
  }

  private static final class Numbers extends DoFn<KV<Long, Iterable<String>>, KV<Long, Long>> {
    @ProcessElement
    public void process(
        @Element KV<Long, Iterable<String>> group, OutputReceiver<KV<Long, Long>> output) {
      for (String line : group.getValue()) {
        output.output(KV.of(group.getKey(), Long.parseLong(line)));
      }
    }
  }
}
