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
package org.apache.beam.runners.spark.structuredstreaming.comparison;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.SerializableFunction;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TimestampedValue;
import org.apache.beam.sdk.values.TypeDescriptor;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Instant;

/** All pipelines that are compared, and the input that most of them have. */
final class ComparedPipelines {
  private ComparedPipelines() {}

  /** The pipelines by name, in a fixed order. */
  static Map<String, ComparedPipeline> all() {
    Map<String, ComparedPipeline> all = new LinkedHashMap<>();
    ElementwisePipelines.addTo(all);
    TextPipelines.addTo(all);
    CombinePipelines.addTo(all);
    StatisticsPipelines.addTo(all);
    GroupingPipelines.addTo(all);
    WindowPipelines.addTo(all);
    ViewPipelines.addTo(all);
    DoFnPipelines.addTo(all);
    SchemaPipelines.addTo(all);
    return all;
  }

  /** Pairs of seven keys and the numbers to 100, at times with gaps between them. */
  static PCollection<KV<String, Long>> pairs(Pipeline pipeline) {
    return pairs(pipeline, "pairs", 100);
  }

  static PCollection<KV<String, Long>> pairs(Pipeline pipeline, String name, int count) {
    List<TimestampedValue<KV<String, Long>>> elements =
        IntStream.range(0, count)
            .mapToObj(
                n ->
                    TimestampedValue.of(
                        KV.of("key" + n % 7, (long) n), Instant.ofEpochSecond(n + 10L * (n / 20))))
            .toList();
    return pipeline.apply(name, Create.timestamped(elements));
  }

  /** The numbers to 100, with the times that {@link #pairs} have. */
  static PCollection<Long> numbers(Pipeline pipeline) {
    return pairs(pipeline).apply("numbers", Values.create());
  }

  /** Other values for the same keys. MapValues would leave the coder of its output to be set by hand. */
  static <V, W> MapElements<KV<String, V>, KV<String, W>> mapValues(
      TypeDescriptor<W> type, SerializableFunction<V, W> function) {
    return MapElements.into(TypeDescriptors.kvs(TypeDescriptors.strings(), type))
        .via(pair -> KV.of(pair.getKey(), function.apply(pair.getValue())));
  }

  /** Words without times. */
  static PCollection<String> words(Pipeline pipeline) {
    return pipeline.apply(
        "words", Create.of("to", "be", "or", "not", "to", "be", "that", "is", "the", "question"));
  }
}
