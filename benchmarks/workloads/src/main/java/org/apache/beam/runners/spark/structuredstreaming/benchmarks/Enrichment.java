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

import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollectionView;

/** Every record is looked up in a map of 1,000 entries that is a side input. */
final class Enrichment implements Workload {
  private static final int KEYS = 1000;

  private final KeyedRecords generator = new KeyedRecords(KEYS);

  @Override
  public void build(Pipeline pipeline, long records) {
    PCollectionView<Map<Long, Long>> prices =
        pipeline
            .apply(
                "Prices",
                Create.of(
                        LongStream.range(0, KEYS)
                            .mapToObj(key -> KV.of(key, price(key)))
                            .collect(Collectors.toList()))
                    .withCoder(KvCoder.of(VarLongCoder.of(), VarLongCoder.of())))
            .apply("AsMap", View.asMap());
    pipeline
        .apply("Read", Input.STREAM.read(generator, records))
        .apply("Price", ParDo.of(new Price(prices)).withSideInput("prices", prices))
        .apply("Results", ParDo.of(new Results.Sink()));
  }

  private static long price(long key) {
    return Results.mix(key) & 0xFF;
  }

  @Override
  public Totals expected(long records) {
    Results.Expected expected = new Results.Expected();
    long window = GlobalWindow.INSTANCE.maxTimestamp().getMillis();
    for (long number = 0; number < records; number++) {
      long key = generator.key(number);
      expected.add(key, window, generator.value(number) * price(key));
    }
    return expected.totals();
  }

  private static final class Price extends DoFn<KV<Long, Long>, KV<Long, Long>> {
    private final PCollectionView<Map<Long, Long>> prices;

    Price(PCollectionView<Map<Long, Long>> prices) {
      this.prices = prices;
    }

    @ProcessElement
    public void process(ProcessContext context) {
      long key = context.element().getKey();
      long price = context.sideInput(prices).get(key);
      context.output(KV.of(key, context.element().getValue() * price));
    }
  }
}
