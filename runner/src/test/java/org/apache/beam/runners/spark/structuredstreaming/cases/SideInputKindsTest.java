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
package org.apache.beam.runners.spark.structuredstreaming.cases;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.CombineWithContext.CombineFnWithContext;
import org.apache.beam.sdk.transforms.CombineWithContext.Context;
import org.apache.beam.sdk.transforms.CombineWithContext.RequiresContextInternal;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.Wait;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;

/** Every kind of view, and every kind of step that reads one. */
class SideInputKindsTest extends SideInputCase {
  private static <T> Window<T> fixed(long seconds) {
    return Window.into(FixedWindows.of(Duration.standardSeconds(seconds)));
  }

  @Test
  void everyKindOfViewIsReadWithAndWithoutElements() {
    Script script = Script.split().at(1, "M:m").epoch().at(2, "S:a=1").at(3, "S:b=2").epoch().end();
    run(
        p -> {
          PCollection<String> all = p.apply(Script.read("kinds", script)).apply(fixed(10));
          PCollection<String> side = all.apply(tagged("S"));
          PCollection<String> nothing = side.apply("none", Filter.by((String value) -> false));
          PCollection<KV<String, String>> pairs = side.apply("pairs", pairs());
          PCollection<KV<String, String>> noPairs = nothing.apply("no pairs", pairs());
          Map<String, PCollectionView<?>> views = new LinkedHashMap<>();
          views.put("iterable", side.apply("v1", View.asIterable()));
          views.put("list", side.apply("v2", View.asList()));
          views.put(
              "list by index", side.apply("v3", View.<String>asList().withRandomAccess()));
          views.put("list in memory", side.apply("v4", View.<String>asList().inMemory()));
          views.put("map", pairs.apply("v5", View.asMap()));
          views.put("map in memory", pairs.apply("v6", View.<String, String>asMap().inMemory()));
          views.put("multimap", pairs.apply("v7", View.asMultimap()));
          views.put("no iterable", nothing.apply("v8", View.asIterable()));
          views.put("no list", nothing.apply("v9", View.asList()));
          views.put("no map", noPairs.apply("v10", View.asMap()));
          views.put("no multimap", noPairs.apply("v11", View.asMultimap()));
          views.put(
              "default",
              nothing.apply("v12", View.<String>asSingleton().withDefaultValue("instead")));
          PCollection<String> main = all.apply(tagged("M"));
          views.forEach(
              (kind, view) ->
                  main.apply("read " + kind, reading(view)).apply(recorder.as(kind)));
        });

    Map<String, String> expected = new LinkedHashMap<>();
    for (String kind : List.of("iterable", "list", "list by index", "list in memory")) {
      expected.put(kind, "m [a=1, b=2]");
    }
    expected.put("map", "m {a=1, b=2}");
    expected.put("map in memory", "m {a=1, b=2}");
    expected.put("multimap", "m {a=[1], b=[2]}");
    expected.put("no iterable", "m []");
    expected.put("no list", "m []");
    expected.put("no map", "m {}");
    expected.put("no multimap", "m {}");
    expected.put("default", "m instead");
    expected.forEach((kind, text) -> assertThat(kind, recorder.values(kind), contains(text)));
  }

  @Test
  void combinesReadSideInputs() {
    run(
        p -> {
          PCollectionView<Integer> bonus =
              p.apply("bonus", Create.of(100)).apply("bonus view", View.asSingleton());
          PCollection<KV<String, Integer>> pairs =
              p.apply("pairs", Create.of(KV.of("a", 1), KV.of("a", 2), KV.of("b", 3)));
          PCollection<Integer> numbers = p.apply("numbers", Create.of(1, 2, 3));
          PCollection<Integer> none =
              numbers.apply("none", Filter.by((Integer number) -> false));
          SumWithBonusFn fn = new SumWithBonusFn(bonus);
          pairs
              .apply("per key", Combine.<String, Integer, Integer>perKey(fn).withSideInputs(bonus))
              .apply(recorder.as("per-key"));
          numbers
              .apply("globally", Combine.globally(fn).withSideInputs(List.of(bonus)))
              .apply(recorder.as("globally"));
          none.apply("default", Combine.globally(fn).withSideInputs(List.of(bonus)))
              .apply(recorder.as("default"));
          PCollectionView<Integer> sum =
              numbers.apply("sum", Sum.integersGlobally().asSingletonView());
          PCollectionView<Integer> noSum =
              none.apply("no sum", Sum.integersGlobally().asSingletonView());
          PCollection<String> main = p.apply("main", Create.of("m"));
          main.apply("read sum", reading(sum)).apply(recorder.as("sum"));
          main.apply("read no sum", reading(noSum)).apply(recorder.as("no-sum"));
        });

    assertThat(recorder.values("per-key"), contains("a=103", "b=103"));
    assertThat(recorder.values("globally"), contains("106"));
    assertThat(recorder.values("default"), contains("-1"));
    assertThat(recorder.values("sum"), contains("m 6"));
    assertThat(recorder.values("no-sum"), contains("m 0"));
  }

  private static final class SumWithBonusFn extends CombineFnWithContext<Integer, Integer, Integer>
      implements RequiresContextInternal {
    private final PCollectionView<Integer> bonus;

    SumWithBonusFn(PCollectionView<Integer> bonus) {
      this.bonus = bonus;
    }

    @Override
    public Integer createAccumulator(Context context) {
      return 0;
    }

    @Override
    public Integer addInput(Integer accumulator, Integer input, Context context) {
      return accumulator + input;
    }

    @Override
    public Integer mergeAccumulators(Iterable<Integer> accumulators, Context context) {
      int sum = 0;
      for (int accumulator : accumulators) {
        sum += accumulator;
      }
      return sum;
    }

    @Override
    public Integer extractOutput(Integer accumulator, Context context) {
      return accumulator + context.sideInput(bonus);
    }

    @Override
    public Integer defaultValue() {
      return -1;
    }
  }

  @Test
  void waitOnHoldsElementsUntilTheSignalsWindowHasClosed() {
    Script main = Script.split().at(1, "m").watermark(50).epochs(4).end();
    Script signal = Script.split().epoch().at(5, "s").watermark(5).epochs(2).watermark(15).epoch().end();
    run(
        p -> {
          PCollection<String> signals =
              p.apply(Script.read("wait-signal", signal))
                  .apply(
                      "signal windows",
                      SideInputKindsTest.<String>fixed(10)
                          .withAllowedLateness(Duration.ZERO)
                          .discardingFiredPanes());
          signals.apply(recorder.as("signal"));
          p.apply(Script.read("wait-main", main))
              .apply("main windows", fixed(10))
              .apply(Wait.on(signals))
              .setCoder(StringUtf8Coder.of())
              .apply(recorder.as("waited"));
        });

    Recorded waited = recorder.seen("waited").get(0);
    assertThat(waited.value(), is("m"));
    assertThat(waited.timestampMillis(), is(1000L));
    // The signal came in an epoch before the one that closed its window.
    assertThat(waited.epoch(), greaterThan(recorder.seen("signal").get(0).epoch()));
  }

  @Test
  void viewOfWhatWasMadeWithAView() {
    Script script =
        Script.split().at(1, "M:m").at(2, "O:o").epoch().at(3, "S:s").epoch().end();
    run(
        p -> {
          PCollection<String> all = p.apply(Script.read("views-of-views", script)).apply(fixed(10));
          PCollectionView<?> inner = all.apply(tagged("S")).apply("inner", View.asList());
          PCollectionView<?> outer =
              all.apply(tagged("O"))
                  .apply("make", reading(inner))
                  .setCoder(StringUtf8Coder.of())
                  .apply("outer", View.asList());
          all.apply(tagged("M")).apply("read", reading(outer)).apply(recorder.as("read"));
        });

    assertThat(recorder.values("read"), contains("m [o [s]]"));
  }

  @Test
  void viewOfAHundredMegabytesIsReadByEveryPartition() {
    run(
        p -> {
          PCollectionView<Iterable<byte[]>> view =
              p.apply("numbers", Create.of(1))
                  .apply("megabytes", ParDo.of(new MegabytesFn(100)))
                  .apply("large", View.asIterable());
          p.apply("main", Create.of("a", "b", "c", "d"))
              .apply("read", ParDo.of(new SizeFn(view)).withSideInputs(view))
              .apply(recorder.as("sizes"));
        });

    String size = Long.toString(100L << 20);
    assertThat(
        recorder.values("sizes"), contains("a " + size, "b " + size, "c " + size, "d " + size));
  }

  private static final class MegabytesFn extends DoFn<Integer, byte[]> {
    private final int count;

    MegabytesFn(int count) {
      this.count = count;
    }

    @ProcessElement
    public void process(OutputReceiver<byte[]> output) {
      for (int i = 0; i < count; i++) {
        output.output(new byte[1 << 20]);
      }
    }
  }

  private static final class SizeFn extends DoFn<String, String> {
    private final PCollectionView<Iterable<byte[]>> view;

    SizeFn(PCollectionView<Iterable<byte[]>> view) {
      this.view = view;
    }

    @ProcessElement
    public void process(ProcessContext context) {
      long size = 0;
      for (byte[] each : context.sideInput(view)) {
        size += each.length;
      }
      context.output(context.element() + " " + size);
    }
  }
}
