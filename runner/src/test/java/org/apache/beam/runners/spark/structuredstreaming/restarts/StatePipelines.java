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
package org.apache.beam.runners.spark.structuredstreaming.restarts;

import static org.apache.beam.runners.spark.structuredstreaming.restarts.RestartedPipeline.read;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.CombiningState;
import org.apache.beam.sdk.state.MapState;
import org.apache.beam.sdk.state.MultimapState;
import org.apache.beam.sdk.state.OrderedListState;
import org.apache.beam.sdk.state.SetState;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.beam.sdk.values.TimestampedValue;
import org.joda.time.Instant;

/** Every kind of state cell: each element changes it and tells what it holds then. */
final class StatePipelines {
  /** A number goes in, a negative one takes its opposite out. */
  private static final List<String> CHANGES = List.of("5", "3", "5", "-5", "3");

  private StatePipelines() {}

  static List<RestartedPipeline> all() {
    return List.of(
        RestartedPipeline.of(
            "every kind of state",
            StatePipelines::everyKind,
            Stream.of(
                    forBothKeys("value 1, sum 5", "value 2, sum 8", "value 3, sum 13", "cleared",
                        "value 1, sum 3"),
                    forBothKeys("bag [5]", "bag [5, 3]", "bag [5, 3, 5]", "bag []", "bag [3]"),
                    forBothKeys("set new [5]", "set new [3, 5]", "set [3, 5]", "set [3]", "set [3]"),
                    forBothKeys("map {5=1}", "map {3=1, 5=1}", "map {3=1, 5=2}", "map {3=1}",
                        "map {3=2}"),
                    forBothKeys("multimap {5=[1]}", "multimap {3=[1], 5=[1]}",
                        "multimap {3=[1], 5=[1, 2]}", "multimap {3=[1]}", "multimap {3=[1, 2]}"),
                    forBothKeys("list [5] up to 4 []", "list [3, 5] up to 4 [3]",
                        "list [3, 5, 5] up to 4 [3]", "list [3] up to 4 [3]",
                        "list [3, 3] up to 4 [3, 3]"))
                .flatMap(List::stream)
                .toArray(String[]::new)));
  }

  /** What both keys tell, at the seconds of the changes. */
  private static List<String> forBothKeys(String... told) {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < told.length; i++) {
      all.add("a " + told[i] + " @" + (i + 1));
      all.add("b " + told[i] + " @" + (i + 1));
    }
    return all;
  }

  private static PCollection<?> everyKind(Pipeline pipeline) {
    Script script = Script.split();
    for (int i = 0; i < CHANGES.size(); i++) {
      String change = CHANGES.get(i);
      script.at(i + 1, "a:" + change).at(i + 1, "b:" + change).watermark(i + 1).epoch();
    }
    PCollection<KV<String, String>> changes = pipeline.apply(read("every-state", script.end()));
    return PCollectionList.of(changes.apply("value", ParDo.of(new ValueAndSumFn())))
        .and(changes.apply("bag", ParDo.of(new BagFn())))
        .and(changes.apply("set", ParDo.of(new SetFn())))
        .and(changes.apply("map", ParDo.of(new MapFn())))
        .and(changes.apply("multimap", ParDo.of(new MultimapFn())))
        .and(changes.apply("list", ParDo.of(new OrderedFn())))
        .apply(Flatten.pCollections());
  }

  private static final class ValueAndSumFn extends DoFn<KV<String, String>, String> {
    @StateId("count")
    private final StateSpec<ValueState<Integer>> countSpec = StateSpecs.value(VarIntCoder.of());

    @StateId("sum")
    private final StateSpec<CombiningState<Integer, int[], Integer>> sumSpec =
        StateSpecs.combining(Sum.ofIntegers());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("count") ValueState<Integer> count,
        @StateId("sum") CombiningState<Integer, int[], Integer> sum,
        OutputReceiver<String> out) {
      if (element.getValue().startsWith("-")) {
        count.clear();
        sum.clear();
        out.output(element.getKey() + " cleared");
        return;
      }
      Integer before = count.read();
      count.write(before == null ? 1 : before + 1);
      sum.add(Integer.parseInt(element.getValue()));
      out.output(element.getKey() + " value " + count.read() + ", sum " + sum.read());
    }
  }

  private static final class BagFn extends DoFn<KV<String, String>, String> {
    @StateId("bag")
    private final StateSpec<BagState<String>> bagSpec = StateSpecs.bag(StringUtf8Coder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("bag") BagState<String> bag,
        OutputReceiver<String> out) {
      if (element.getValue().startsWith("-")) {
        bag.clear();
      } else {
        bag.add(element.getValue());
      }
      List<String> inOrder = new ArrayList<>();
      bag.read().forEach(inOrder::add);
      out.output(element.getKey() + " bag " + inOrder);
    }
  }

  private static final class SetFn extends DoFn<KV<String, String>, String> {
    @StateId("set")
    private final StateSpec<SetState<String>> setSpec = StateSpecs.set(StringUtf8Coder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("set") SetState<String> set,
        OutputReceiver<String> out) {
      String value = element.getValue();
      String isNew = "";
      if (value.startsWith("-")) {
        set.remove(value.substring(1));
      } else if (set.addIfAbsent(value).read()) {
        isNew = "new ";
      }
      out.output(element.getKey() + " set " + isNew + Recorder.text(set.read()));
    }
  }

  private static final class MapFn extends DoFn<KV<String, String>, String> {
    @StateId("map")
    private final StateSpec<MapState<String, Integer>> mapSpec =
        StateSpecs.map(StringUtf8Coder.of(), VarIntCoder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("map") MapState<String, Integer> map,
        OutputReceiver<String> out) {
      String value = element.getValue();
      if (value.startsWith("-")) {
        map.remove(value.substring(1));
      } else {
        map.put(value, map.getOrDefault(value, 0).read() + 1);
      }
      List<String> entries = new ArrayList<>();
      for (Map.Entry<String, Integer> entry : map.entries().read()) {
        entries.add(entry.getKey() + "=" + entry.getValue());
      }
      out.output(element.getKey() + " map " + inBraces(entries));
    }
  }

  private static final class MultimapFn extends DoFn<KV<String, String>, String> {
    @StateId("multimap")
    private final StateSpec<MultimapState<String, Integer>> multimapSpec =
        StateSpecs.multimap(StringUtf8Coder.of(), VarIntCoder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("multimap") MultimapState<String, Integer> multimap,
        OutputReceiver<String> out) {
      String value = element.getValue();
      if (value.startsWith("-")) {
        multimap.remove(value.substring(1));
      } else {
        int size = 0;
        for (Integer present : multimap.get(value).read()) {
          size = Math.max(size, present);
        }
        multimap.put(value, size + 1);
      }
      List<String> entries = new ArrayList<>();
      for (String key : multimap.keys().read()) {
        entries.add(key + "=" + Recorder.text(multimap.get(key).read()));
      }
      out.output(element.getKey() + " multimap " + inBraces(entries));
    }
  }

  private static final class OrderedFn extends DoFn<KV<String, String>, String> {
    @StateId("list")
    private final StateSpec<OrderedListState<String>> listSpec =
        StateSpecs.orderedList(StringUtf8Coder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("list") OrderedListState<String> list,
        OutputReceiver<String> out) {
      int second = Integer.parseInt(element.getValue());
      if (second < 0) {
        list.clearRange(Instant.ofEpochSecond(-second), Instant.ofEpochSecond(1 - second));
      } else {
        list.add(TimestampedValue.of(element.getValue(), Instant.ofEpochSecond(second)));
      }
      out.output(
          element.getKey() + " list " + inOrder(list.read()) + " up to 4 "
              + inOrder(list.readRange(Instant.EPOCH, Instant.ofEpochSecond(5))));
    }

    private static List<String> inOrder(Iterable<TimestampedValue<String>> values) {
      List<String> inOrder = new ArrayList<>();
      values.forEach(value -> inOrder.add(value.getValue()));
      return inOrder;
    }
  }

  private static String inBraces(List<String> entries) {
    return "{" + String.join(", ", entries.stream().sorted().toList()) + "}";
  }
}
