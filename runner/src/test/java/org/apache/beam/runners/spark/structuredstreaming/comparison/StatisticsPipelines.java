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

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.ApproximateQuantiles;
import org.apache.beam.sdk.transforms.ApproximateUnique;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Keys;
import org.apache.beam.sdk.transforms.Latest;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.Sample;
import org.apache.beam.sdk.transforms.Top;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;

/** Transforms that say something about all elements: counts, quantiles, samples. */
final class StatisticsPipelines {
  private StatisticsPipelines() {}

  static void addTo(Map<String, ComparedPipeline> all) {
    all.put("counts", StatisticsPipelines::counts);
    all.put("top", StatisticsPipelines::top);
    all.put("quantiles", StatisticsPipelines::quantiles);
    all.put("approximate unique", StatisticsPipelines::unique);
    all.put("latest", StatisticsPipelines::latest);
    all.put("samples", StatisticsPipelines::samples);
  }

  private static void counts(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    outcome.of("perKey", pairs.apply(Count.perKey()));
    outcome.of("perElement", pairs.apply(Keys.create()).apply(Count.perElement()));
    outcome.of("globally", pairs.apply(Count.globally()));
    outcome.of(
        "in sessions",
        pairs
            .apply(Window.into(Sessions.withGapDuration(Duration.standardSeconds(9))))
            .apply("Sessions", Count.perKey()));
  }

  private static void top(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    PCollection<Long> values = pairs.apply(Values.create());
    outcome.of("largest", values.apply("Largest", Top.largest(4)));
    outcome.of("smallest", values.apply("Smallest", Top.smallest(4)));
    outcome.of("largestPerKey", pairs.apply("LargestPerKey", Top.largestPerKey(3)));
    outcome.of("smallestPerKey", pairs.apply("SmallestPerKey", Top.smallestPerKey(3)));
    outcome.of("of", values.apply("Of", Top.of(2, new Top.Reversed<Long>())));
    outcome.of("perKey", pairs.apply("PerKey", Top.perKey(2, new Top.Reversed<Long>())));
  }

  private static void quantiles(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    // So few elements are all kept: their quantiles are exact.
    outcome.of("globally", pairs.apply(Values.create()).apply(ApproximateQuantiles.globally(5)));
    outcome.of("perKey", pairs.apply(ApproximateQuantiles.perKey(3)));
  }

  @SuppressWarnings("deprecation") // whoever still has it in a pipeline is to be able to run it
  private static void unique(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    // Below the size of the sample the number is exact.
    outcome.of("globally", pairs.apply(Keys.create()).apply(ApproximateUnique.globally(200)));
    outcome.of("perKey", pairs.apply(ApproximateUnique.perKey(200)));
  }

  private static void latest(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    outcome.of("perKey", pairs.apply(Latest.perKey()));
    outcome.of("globally", pairs.apply(Values.create()).apply(Latest.globally()));
    outcome.of(
        "in windows",
        pairs
            .apply(Window.into(FixedWindows.of(Duration.standardSeconds(33))))
            .apply("Windows", Latest.perKey()));
  }

  /** Which elements a sample has is up to the runner, but not how many, and that they are of the input. */
  private static void samples(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    PCollection<Long> values = pairs.apply(Values.create());
    outcome.of("any", values.apply(Sample.any(7)).apply("CountAny", Count.globally()));
    outcome.of("any of few", values.apply("AnyOfFew", Sample.any(1000)));
    outcome.of(
        "fixedSizeGlobally",
        values
            .apply(Sample.fixedSizeGlobally(9))
            .apply("Size", MapElements.into(TypeDescriptors.strings()).via(StatisticsPipelines::size)));
    outcome.of(
        "fixedSizePerKey",
        pairs
            .apply(Sample.fixedSizePerKey(5))
            .apply(
                "Sizes",
                ComparedPipelines.mapValues(TypeDescriptors.strings(), StatisticsPipelines::size)));
    outcome.of(
        "combineFn",
        values
            .apply("CombineFn", Combine.globally(Sample.<Long>combineFn(9)))
            .apply("SizeOfFn", MapElements.into(TypeDescriptors.strings()).via(StatisticsPipelines::size)));
    outcome.of(
        "anyCombineFn",
        values
            .apply("AnyCombineFn", Combine.globally(Sample.<Long>anyCombineFn(9)))
            .apply("SizeOfAny", MapElements.into(TypeDescriptors.strings()).via(StatisticsPipelines::size)));
    outcome.of(
        "anyValueCombineFn",
        pairs
            .apply("Constant", ComparedPipelines.mapValues(TypeDescriptors.longs(), (Long value) -> 1L))
            .apply("AnyValue", Combine.perKey(Sample.<Long>anyValueCombineFn())));
  }

  /** The number of elements, and whether they differ and are those of the input. */
  private static String size(Iterable<Long> sample) {
    Set<Long> distinct = new TreeSet<>();
    int size = 0;
    for (long value : sample) {
      size++;
      if (value >= 0 && value < 100) {
        distinct.add(value);
      }
    }
    return size + " of which " + distinct.size();
  }
}
