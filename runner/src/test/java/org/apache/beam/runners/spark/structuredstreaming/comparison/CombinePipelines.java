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
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.CombineFns;
import org.apache.beam.sdk.transforms.CombineWithContext;
import org.apache.beam.sdk.transforms.Contextful;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.Max;
import org.apache.beam.sdk.transforms.Mean;
import org.apache.beam.sdk.transforms.Min;
import org.apache.beam.sdk.transforms.Requirements;
import org.apache.beam.sdk.transforms.SimpleFunction;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;

/** Combine in all its forms, and the sums that are made of it. */
final class CombinePipelines {
  private static final TupleTag<Long> SUM = new TupleTag<>() {};
  private static final TupleTag<Long> MAX = new TupleTag<>() {};

  private CombinePipelines() {}

  static void addTo(Map<String, ComparedPipeline> all) {
    all.put("sums", CombinePipelines::sums);
    all.put("extremes", CombinePipelines::extremes);
    all.put("combine by key", CombinePipelines::byKey);
    all.put("combine globally", CombinePipelines::globally);
    all.put("composed combine functions", CombinePipelines::composed);
  }

  private static PCollection<KV<String, Integer>> integers(PCollection<KV<String, Long>> pairs) {
    return pairs.apply(
        "integers",
        ComparedPipelines.mapValues(TypeDescriptors.integers(), (Long value) -> value.intValue()));
  }

  private static PCollection<KV<String, Double>> doubles(PCollection<KV<String, Long>> pairs) {
    return pairs.apply(
        "doubles", ComparedPipelines.mapValues(TypeDescriptors.doubles(), (Long value) -> value / 4.0));
  }

  private static void sums(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    PCollection<KV<String, Integer>> integers = integers(pairs);
    PCollection<KV<String, Double>> doubles = doubles(pairs);
    outcome.of("longsPerKey", pairs.apply(Sum.longsPerKey()));
    outcome.of("longsGlobally", pairs.apply("L", Values.create()).apply(Sum.longsGlobally()));
    outcome.of("integersPerKey", integers.apply(Sum.integersPerKey()));
    outcome.of("integersGlobally", integers.apply("I", Values.create()).apply(Sum.integersGlobally()));
    outcome.of("doublesPerKey", doubles.apply(Sum.doublesPerKey()));
    outcome.of("doublesGlobally", doubles.apply("D", Values.create()).apply(Sum.doublesGlobally()));
    outcome.of("mean per key", pairs.apply(Mean.perKey()));
    outcome.of("mean globally", pairs.apply("M", Values.create()).apply(Mean.globally()));
    outcome.of(
        "sum of nothing",
        pairs
            .apply("N", Values.create())
            .apply(Filter.greaterThan(1_000_000L))
            .apply("SumOfNothing", Sum.longsGlobally()));
  }

  private static void extremes(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    PCollection<KV<String, Integer>> integers = integers(pairs);
    PCollection<KV<String, Double>> doubles = doubles(pairs);
    PCollection<Long> values = pairs.apply(Values.create());
    outcome.of("max longs", pairs.apply("MaxLongs", Max.longsPerKey()));
    outcome.of("min longs", pairs.apply("MinLongs", Min.longsPerKey()));
    outcome.of("max integers", integers.apply("MaxInts", Max.integersPerKey()));
    outcome.of("min integers", integers.apply("MinInts", Min.integersPerKey()));
    outcome.of("max doubles", doubles.apply("MaxDoubles", Max.doublesPerKey()));
    outcome.of("min doubles", doubles.apply("MinDoubles", Min.doublesPerKey()));
    outcome.of("max of all", values.apply("MaxOfAll", Max.globally()));
    outcome.of("min of all", values.apply("MinOfAll", Min.globally()));
    outcome.of("max by key", pairs.apply("MaxByKey", Max.perKey()));
    outcome.of("min by key", pairs.apply("MinByKey", Min.perKey()));
  }

  private static void byKey(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    outcome.of("binary", pairs.apply("Binary", Combine.perKey((Long a, Long b) -> a ^ b)));
    outcome.of("iterable", pairs.apply("Iterable", Combine.perKey(CombinePipelines::sum)));
    outcome.of(
        "hot keys",
        pairs.apply(
            "Hot", Combine.<String, Long, Long>perKey(Sum.ofLongs()).withHotKeyFanout(3)));
    outcome.of("few keys", pairs.apply("Few", Combine.fewKeys(Sum.ofLongs())));
    outcome.of(
        "grouped values",
        pairs.apply(GroupByKey.create()).apply(Combine.groupedValues(Sum.ofLongs())));
    PCollectionView<Long> one =
        pairs.apply(Values.create()).apply(Combine.globally(Max.ofLongs()).asSingletonView());
    outcome.of(
        "with context",
        pairs.apply(
            "Context",
            Combine.<String, Long, Long>perKey(new SumAndView(one)).withSideInputs(one)));
  }

  private static long sum(Iterable<Long> values) {
    long sum = 0;
    for (long value : values) {
      sum += value;
    }
    return sum;
  }

  private static void globally(Pipeline pipeline, Outcome outcome) {
    PCollection<Long> numbers = ComparedPipelines.numbers(pipeline);
    outcome.of("iterable", numbers.apply("Iterable", Combine.globally(CombinePipelines::sum)));
    outcome.of("fanout", numbers.apply("Fanout", Combine.globally(Sum.ofLongs()).withFanout(4)));
    outcome.of(
        "in windows",
        numbers
            .apply(Window.into(FixedWindows.of(Duration.standardSeconds(25))))
            .apply("Windows", Combine.globally(Sum.ofLongs()).withoutDefaults()));
    PCollectionView<Long> view =
        numbers.apply("View", Combine.globally(Sum.ofLongs()).asSingletonView());
    PCollectionView<Long> ofNothing =
        numbers
            .apply(Filter.lessThan(-1L))
            .apply("ViewOfNothing", Combine.globally(Sum.ofLongs()).asSingletonView());
    outcome.of(
        "views",
        ComparedPipelines.words(pipeline)
            .apply(
                MapElements.into(TypeDescriptors.strings())
                    .via(
                        Contextful.fn(
                            (String word, Contextful.Fn.Context c) ->
                                word + c.sideInput(view) + "," + c.sideInput(ofNothing),
                            Requirements.requiresSideInputs(view, ofNothing)))));
  }

  private static void composed(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    CombineFns.ComposedCombineFn<Long> both =
        CombineFns.compose()
            .with(new Itself(), Sum.ofLongs(), SUM)
            .with(new Itself(), Max.ofLongs(), MAX);
    outcome.of(
        "per key",
        pairs
            .apply("Composed", Combine.perKey(both))
            .apply("Texts", ComparedPipelines.mapValues(TypeDescriptors.strings(), CombinePipelines::text)));
    PCollectionView<Long> one =
        pairs.apply(Values.create()).apply(Count.globally()).apply(View.asSingleton());
    CombineFns.ComposedCombineFnWithContext<Long> withContext =
        CombineFns.compose()
            .with(new Itself(), new SumAndView(one), SUM)
            .with(new Itself(), Max.ofLongs(), MAX);
    outcome.of(
        "per key with context",
        pairs
            .apply(
                "WithContext",
                Combine.<String, Long, CombineFns.CoCombineResult>perKey(withContext)
                    .withSideInputs(one))
            .apply(
                "TextsOfContext",
                ComparedPipelines.mapValues(TypeDescriptors.strings(), CombinePipelines::text)));
  }

  private static String text(CombineFns.CoCombineResult result) {
    return result.get(SUM) + " " + result.get(MAX);
  }

  /** The part of an element that is combined: all of it. */
  private static final class Itself extends SimpleFunction<Long, Long> {
    @Override
    public Long apply(Long input) {
      return input;
    }
  }

  /** The sum, and once more what a view has. */
  private static final class SumAndView
      extends CombineWithContext.CombineFnWithContext<Long, Long, Long> {
    private final PCollectionView<Long> view;

    SumAndView(PCollectionView<Long> view) {
      this.view = view;
    }

    @Override
    public Long createAccumulator(CombineWithContext.Context c) {
      return 0L;
    }

    @Override
    public Long addInput(Long accumulator, Long input, CombineWithContext.Context c) {
      return accumulator + input;
    }

    @Override
    public Long mergeAccumulators(Iterable<Long> accumulators, CombineWithContext.Context c) {
      return sum(accumulators);
    }

    @Override
    public Long extractOutput(Long accumulator, CombineWithContext.Context c) {
      return accumulator + c.sideInput(view);
    }
  }
}
