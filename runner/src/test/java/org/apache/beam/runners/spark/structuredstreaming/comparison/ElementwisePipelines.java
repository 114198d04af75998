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

import java.util.List;
import java.util.Map;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.options.ValueProvider;
import org.apache.beam.sdk.transforms.Contextful;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.FlatMapElements;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.Impulse;
import org.apache.beam.sdk.transforms.InferableFunction;
import org.apache.beam.sdk.transforms.Keys;
import org.apache.beam.sdk.transforms.KvSwap;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.MapKeys;
import org.apache.beam.sdk.transforms.MapValues;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Partition;
import org.apache.beam.sdk.transforms.Reify;
import org.apache.beam.sdk.transforms.Requirements;
import org.apache.beam.sdk.transforms.SimpleFunction;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.Tee;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.WithFailures;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.WithTimestamps;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TimestampedValue;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.apache.beam.sdk.values.ValueInSingleWindow;
import org.apache.beam.sdk.values.WindowedValues;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** Transforms that look at one element at a time. */
final class ElementwisePipelines {
  private ElementwisePipelines() {}

  static void addTo(Map<String, ComparedPipeline> all) {
    all.put("keys and values", ElementwisePipelines::keysAndValues);
    all.put("mapping", ElementwisePipelines::mapping);
    all.put("failures", ElementwisePipelines::failures);
    all.put("filter, partition, flatten", ElementwisePipelines::streams);
    all.put("reify", ElementwisePipelines::reify);
    all.put("timestamps", ElementwisePipelines::timestamps);
    all.put("create", ElementwisePipelines::create);
  }

  private static void keysAndValues(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    outcome.of("Keys", pairs.apply(Keys.create()));
    PCollection<Long> values = pairs.apply(Values.create());
    outcome.of("Values", values);
    outcome.of("KvSwap", pairs.apply(KvSwap.create()));
    outcome.of(
        "WithKeys",
        values.apply(WithKeys.of((Long n) -> n % 3).withKeyType(TypeDescriptors.longs())));
    outcome.of("WithKeys of one", values.apply("One", WithKeys.of("same")));
    outcome.of(
        "MapKeys",
        pairs
            .apply(MapKeys.into(TypeDescriptors.integers()).via((String key) -> key.length()))
            .setCoder(KvCoder.of(VarIntCoder.of(), VarLongCoder.of())));
    outcome.of(
        "MapValues",
        pairs
            .apply(MapValues.into(TypeDescriptors.longs()).via((Long value) -> -value))
            .setCoder(pairs.getCoder()));
  }

  private static void mapping(Pipeline pipeline, Outcome outcome) {
    PCollection<Long> numbers = ComparedPipelines.numbers(pipeline);
    outcome.of(
        "function", numbers.apply(MapElements.into(TypeDescriptors.longs()).via(n -> n * n)));
    outcome.of(
        "SimpleFunction",
        numbers.apply(
            MapElements.via(
                new SimpleFunction<Long, String>() {
                  @Override
                  public String apply(Long input) {
                    return "n" + input;
                  }
                })));
    outcome.of(
        "InferableFunction",
        numbers.apply(
            MapElements.via(
                new InferableFunction<Long, Integer>() {
                  @Override
                  public Integer apply(Long input) {
                    return input.intValue();
                  }
                })));
    outcome.of(
        "FlatMapElements",
        numbers.apply(FlatMapElements.into(TypeDescriptors.longs()).via(n -> List.of(n, -n))));
    PCollectionView<Long> sum =
        numbers.apply(Sum.longsGlobally()).apply(View.asSingleton());
    outcome.of(
        "Contextful",
        numbers.apply(
            MapElements.into(TypeDescriptors.longs())
                .via(
                    Contextful.fn(
                        (Long n, Contextful.Fn.Context c) -> n + c.sideInput(sum),
                        Requirements.requiresSideInputs(sum)))));
  }

  private static void failures(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    PCollection<Long> numbers = pairs.apply(Values.create());
    keep(
        outcome,
        "MapElements",
        numbers.apply(
            MapElements.into(TypeDescriptors.longs())
                .via((Long n) -> 100 / (n % 4))
                .exceptionsInto(TypeDescriptors.strings())
                .exceptionsVia(failed -> failed.element() + " " + failed.exception().getMessage())));
    keep(
        outcome,
        "FlatMapElements",
        numbers.apply(
            FlatMapElements.into(TypeDescriptors.longs())
                .via((Long n) -> List.of(100 / (n % 4), n))
                .exceptionsInto(TypeDescriptors.strings())
                .exceptionsVia(failed -> failed.element() + " " + failed.exception().getMessage())));
    keep(
        outcome,
        "exceptions as maps",
        numbers.apply(
            "AsMaps",
            MapElements.into(TypeDescriptors.longs())
                .via((Long n) -> 100 / (n % 4))
                .exceptionsVia(new SmallFailure())));
    WithFailures.Result<PCollection<KV<Long, Long>>, String> byKey =
        pairs.apply(
            MapKeys.into(TypeDescriptors.longs())
                .<Long, String>via((String key) -> 6 / ((long) key.charAt(3) - '0'))
                .exceptionsVia(new KeyOfFailure()));
    byKey.output().setCoder(KvCoder.of(VarLongCoder.of(), VarLongCoder.of()));
    keep(outcome, "MapKeys", byKey);
    WithFailures.Result<PCollection<KV<String, Long>>, String> byValue =
        pairs.apply(
            MapValues.into(TypeDescriptors.longs())
                .<String, Long>via((Long value) -> 100 / (value % 4))
                .exceptionsVia(new KeyOfFailure()));
    byValue.output().setCoder(pairs.getCoder());
    keep(outcome, "MapValues", byValue);
  }

  private static <T, F> void keep(
      Outcome outcome, String name, WithFailures.Result<PCollection<T>, F> result) {
    outcome.of(name + " output", result.output());
    outcome.of(name + " failures", result.failures());
  }

  /** What fails, without its stack, which is no part of the result. */
  private static final class SmallFailure
      extends InferableFunction<WithFailures.ExceptionElement<Long>, KV<Long, String>> {
    @Override
    public KV<Long, String> apply(WithFailures.ExceptionElement<Long> failed) {
      return KV.of(failed.element(), failed.exception().getClass().getName());
    }
  }

  /** The key of a pair that fails. */
  private static final class KeyOfFailure
      extends InferableFunction<WithFailures.ExceptionElement<KV<String, Long>>, String> {
    @Override
    public String apply(WithFailures.ExceptionElement<KV<String, Long>> failed) {
      return failed.element().getKey();
    }
  }

  private static void streams(Pipeline pipeline, Outcome outcome) {
    PCollection<Long> numbers = ComparedPipelines.numbers(pipeline);
    outcome.of("by", numbers.apply("By", Filter.by(n -> n % 7 == 3)));
    outcome.of("greaterThan", numbers.apply("Gt", Filter.greaterThan(90L)));
    outcome.of("greaterThanEq", numbers.apply("Ge", Filter.greaterThanEq(90L)));
    outcome.of("lessThan", numbers.apply("Lt", Filter.lessThan(9L)));
    outcome.of("lessThanEq", numbers.apply("Le", Filter.lessThanEq(9L)));
    outcome.of("equal", numbers.apply("Eq", Filter.equal(42L)));
    PCollectionList<Long> parts =
        numbers.apply(Partition.of(3, (Long n, int count) -> (int) (n % count)));
    for (int part = 0; part < 3; part++) {
      outcome.of("part " + part, parts.get(part));
    }
    outcome.of("pCollections", parts.apply(Flatten.pCollections()));
    outcome.of("with", parts.get(0).apply("With", Flatten.with(parts.get(1))));
    outcome.of(
        "with transform",
        parts.get(0).apply("WithTransform", Flatten.with(Create.of(1_000L, 1_001L))));
    outcome.of(
        "iterables",
        numbers
            .apply(
                MapElements.into(TypeDescriptors.iterables(TypeDescriptors.longs()))
                    .via(n -> List.of(n, n + 1)))
            .apply(Flatten.iterables()));
    outcome.of(
        "Tee",
        numbers.apply(
            Tee.of(
                (PCollection<Long> side) ->
                    outcome.of("consumed by Tee", side.apply("Few", Filter.lessThan(5L))))));
  }

  private static void reify(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs =
        ComparedPipelines.pairs(pipeline)
            .apply(Window.into(FixedWindows.of(Duration.standardSeconds(40))));
    outcome.of("timestamps", pairs.apply(Reify.timestamps()));
    outcome.of("windows", pairs.apply(Reify.windows()).apply(ParDo.of(new WindowTextFn())));
    PCollection<KV<String, TimestampedValue<Long>>> inValue =
        pairs.apply(Reify.timestampsInValue());
    outcome.of("timestampsInValue", inValue);
    outcome.of("extractTimestampsFromValues", inValue.apply(Reify.extractTimestampsFromValues()));
    outcome.of("windowsInValue", pairs.apply(Reify.windowsInValue()).apply(Keys.create()));
    PCollectionView<Long> count =
        ComparedPipelines.words(pipeline).apply(Count.globally()).apply(View.asSingleton());
    outcome.of("viewInGlobalWindow", pipeline.apply(Reify.viewInGlobalWindow(count, VarLongCoder.of())));
    outcome.of(
        "viewAsValues",
        ComparedPipelines.pairs(pipeline, "others", 10)
            .apply("OtherKeys", Keys.create())
            .apply(Reify.viewAsValues(count, VarLongCoder.of())));
  }

  /** The window of an element as it was reified. */
  private static final class WindowTextFn
      extends DoFn<ValueInSingleWindow<KV<String, Long>>, String> {
    @ProcessElement
    public void process(
        @Element ValueInSingleWindow<KV<String, Long>> element, OutputReceiver<String> out) {
      out.output(element.getValue() + " " + element.getWindow() + " " + element.getTimestamp());
    }
  }

  private static void timestamps(Pipeline pipeline, Outcome outcome) {
    PCollection<Long> numbers =
        pipeline.apply("sequence", GenerateSequence.from(0).to(50));
    outcome.of(
        "WithTimestamps", numbers.apply(WithTimestamps.of(n -> Instant.ofEpochSecond(n * 60))));
    outcome.of(
        "backwards",
        ComparedPipelines.numbers(pipeline)
            .apply("Back", ParDo.of(new BackFn())));
    outcome.of(
        "forwards",
        numbers
            .apply("First", WithTimestamps.of(n -> Instant.ofEpochSecond(n)))
            .apply("Second", WithTimestamps.of(n -> Instant.ofEpochSecond(n + 5))));
  }

  private static final class BackFn extends DoFn<Long, Long> {
    @ProcessElement
    public void process(@Element Long number, @Timestamp Instant timestamp, OutputReceiver<Long> out) {
      out.outputWithTimestamp(number, timestamp.minus(Duration.standardSeconds(number)));
    }

    @Override
    @SuppressWarnings("deprecation") // there is no other way to output behind the element's time
    public Duration getAllowedTimestampSkew() {
      return Duration.standardMinutes(2);
    }
  }

  private static void create(Pipeline pipeline, Outcome outcome) {
    outcome.of("Impulse", pipeline.apply(Impulse.create()));
    outcome.of("of", pipeline.apply("Of", Create.of(1, 2, 3)));
    outcome.of("of, by a source", pipeline.apply("BySource", Create.of(4, 5).alwaysUseRead()));
    outcome.of("of map", pipeline.apply("OfMap", Create.of(Map.of("a", 1, "b", 2))));
    outcome.of("of one", pipeline.apply("OfOne", Create.of("alone")));
    outcome.of(
        "empty", pipeline.apply("Empty", Create.empty(VarLongCoder.of())).apply(Count.globally()));
    outcome.of(
        "ofProvider",
        pipeline.apply(
            Create.ofProvider(ValueProvider.StaticValueProvider.of("later"), StringUtf8Coder.of())));
    outcome.of(
        "timestamped",
        pipeline.apply(
            "Timestamped",
            Create.timestamped(TimestampedValue.of("early", Instant.ofEpochSecond(1)))));
    IntervalWindow window = new IntervalWindow(Instant.EPOCH, Duration.millis(100));
    outcome.of(
        "windowedValues",
        pipeline.apply(
            Create.windowedValues(
                    List.of(
                        WindowedValues.of("x", Instant.EPOCH, List.of(window), PaneInfo.NO_FIRING)))
                .withWindowCoder(IntervalWindow.getCoder())));
  }
}
