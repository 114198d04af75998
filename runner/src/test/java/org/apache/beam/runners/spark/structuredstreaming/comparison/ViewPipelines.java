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

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.SerializableFunction;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.ToString;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.Wait;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.joda.time.Duration;

/** Side inputs of all kinds, and waiting for a collection. */
final class ViewPipelines {
  private ViewPipelines() {}

  static void addTo(Map<String, ComparedPipeline> all) {
    all.put("views", ViewPipelines::views);
    all.put("views of windows", ViewPipelines::viewsOfWindows);
    all.put("wait", ViewPipelines::waiting);
  }

  /** What a DoFn sees of a view. */
  private static final class SeeFn<V> extends DoFn<String, String> {
    private final PCollectionView<V> view;
    private final SerializableFunction<V, String> text;

    SeeFn(PCollectionView<V> view, SerializableFunction<V, String> text) {
      this.view = view;
      this.text = text;
    }

    @ProcessElement
    public void process(ProcessContext c) {
      c.output(c.element() + " sees " + text.apply(c.sideInput(view)));
    }
  }

  private static <V> void see(
      PCollection<String> main,
      Outcome outcome,
      String name,
      PCollectionView<V> view,
      SerializableFunction<V, String> text) {
    outcome.of(name, main.apply("See " + name, ParDo.of(new SeeFn<>(view, text)).withSideInputs(view)));
  }

  /** To be called by lambdas: a method reference that is serialized forgets which type of view it was for. */
  private static String sorted(Iterable<?> values) {
    List<String> texts = new ArrayList<>();
    values.forEach(value -> texts.add(String.valueOf(value)));
    Collections.sort(texts);
    return texts.toString();
  }

  private static void views(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    PCollection<KV<String, Long>> sums = pairs.apply(Sum.longsPerKey());
    PCollection<Long> few = pairs.apply(Values.create()).apply(Filter.lessThan(10L));
    PCollection<Long> none = few.apply("None", Filter.lessThan(0L));
    PCollection<String> main = ComparedPipelines.words(pipeline);
    see(main, outcome, "asSingleton",
        few.apply(Sum.longsGlobally()).apply("V1", View.asSingleton()), String::valueOf);
    see(main, outcome, "asSingleton default",
        none.apply("V2", View.<Long>asSingleton().withDefaultValue(-7L)), String::valueOf);
    see(main, outcome, "asList", few.apply("V3", View.asList()), list -> sorted(list));
    see(main, outcome, "asList random access", few.apply("V4", View.<Long>asList().withRandomAccess()),
        list -> list.size() + " " + list.contains(list.get(list.size() - 1)));
    see(main, outcome, "asList of none", none.apply("V5", View.asList()), list -> sorted(list));
    see(main, outcome, "asIterable", few.apply("V6", View.asIterable()), values -> sorted(values));
    see(main, outcome, "asMap", sums.apply("V7", View.asMap()), map -> new TreeMap<>(map).toString());
    see(main, outcome, "asMultimap", pairs.apply("V8", View.asMultimap()), map -> sorted(map.get("key3")));
    see(main, outcome, "asMultimap in memory",
        pairs.apply("V9", View.<String, Long>asMultimap().inMemory()), map -> sorted(map.keySet()));
  }

  private static void viewsOfWindows(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    PCollectionView<Map<String, Long>> counts =
        pairs
            .apply("Side", Window.into(FixedWindows.of(Duration.standardSeconds(40))))
            .apply(Count.perKey())
            .apply(View.asMap());
    PCollection<String> main =
        pairs
            .apply("Main", Window.into(FixedWindows.of(Duration.standardSeconds(20))))
            .apply(ToString.kvs());
    see(main, outcome, "of other windows", counts, map -> new TreeMap<>(map).toString());
  }

  private static void waiting(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs =
        ComparedPipelines.pairs(pipeline)
            .apply(
                Window.<KV<String, Long>>into(FixedWindows.of(Duration.standardSeconds(40)))
                    .withAllowedLateness(Duration.ZERO)
                    .discardingFiredPanes());
    PCollection<Long> signal =
        pairs.apply("Signal", Combine.globally(Count.<KV<String, Long>>combineFn()).withoutDefaults());
    outcome.of("in windows", pairs.apply("Wait", Wait.on(signal)));
    outcome.of(
        "on what has no elements",
        ComparedPipelines.words(pipeline)
            .apply(
                "WaitOnNothing",
                Wait.on(pipeline.apply("nothing", Create.empty(VarLongCoder.of())))));
  }
}
