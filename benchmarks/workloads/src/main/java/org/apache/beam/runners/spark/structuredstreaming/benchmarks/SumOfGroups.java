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

import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;

/** Groups the values of a key, and adds up each group: nothing can be combined before the shuffle. */
final class SumOfGroups extends PTransform<PCollection<KV<Long, Long>>, PCollection<KV<Long, Long>>> {
  @Override
  public PCollection<KV<Long, Long>> expand(PCollection<KV<Long, Long>> records) {
    return records
        .apply("Group", GroupByKey.create())
        .apply("SumOfGroup", ParDo.of(new SumOfGroup()));
  }

  private static final class SumOfGroup extends DoFn<KV<Long, Iterable<Long>>, KV<Long, Long>> {
    @ProcessElement
    public void process(
        @Element KV<Long, Iterable<Long>> group, OutputReceiver<KV<Long, Long>> output) {
      long sum = 0;
      for (long value : group.getValue()) {
        sum += value;
      }
      output.output(KV.of(group.getKey(), sum));
    }
  }
}
