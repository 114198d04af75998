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

import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CoderRegistry;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.values.KV;

/** The mean in whole numbers, which does not depend on the order; the accumulator is count and sum. */
final class Average extends Combine.CombineFn<Long, KV<Long, Long>, Long> {
  @Override
  public KV<Long, Long> createAccumulator() {
    return KV.of(0L, 0L);
  }

  @Override
  public KV<Long, Long> addInput(KV<Long, Long> total, Long value) {
    return KV.of(total.getKey() + 1, total.getValue() + value);
  }

  @Override
  public KV<Long, Long> mergeAccumulators(Iterable<KV<Long, Long>> totals) {
    long count = 0;
    long sum = 0;
    for (KV<Long, Long> total : totals) {
      count += total.getKey();
      sum += total.getValue();
    }
    return KV.of(count, sum);
  }

  @Override
  public Long extractOutput(KV<Long, Long> total) {
    return total.getValue() / Math.max(1, total.getKey());
  }

  @Override
  public Coder<KV<Long, Long>> getAccumulatorCoder(CoderRegistry registry, Coder<Long> inputCoder) {
    return KvCoder.of(VarLongCoder.of(), VarLongCoder.of());
  }
}
