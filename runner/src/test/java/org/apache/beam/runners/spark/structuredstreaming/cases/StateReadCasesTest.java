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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.sdk.coders.ListCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.MapState;
import org.apache.beam.sdk.state.MultimapState;
import org.apache.beam.sdk.state.OrderedListState;
import org.apache.beam.sdk.state.SetState;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.TimestampedValue;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;

/**
 * apache/beam#18582, apache/beam#31453: what was read from state stays as it was, what was written
 * last counts. All over two epochs, so that what one has left is what the next one finds.
 */
class StateReadCasesTest extends PipelineCase {
  private List<String> readBy(DoFn<KV<String, String>, String> fn) {
    run(
        p ->
            p.apply(Events.stream().at(1, "1").then().at(2, "2").end())
                .apply(keyed())
                .apply(ParDo.of(fn))
                .apply(recorder.as("read")));
    return recorder.seen("read").stream().map(Recorded::value).toList();
  }

  private static final class BagFn extends DoFn<KV<String, String>, String> {
    @StateId("bag")
    private final StateSpec<BagState<Integer>> bagSpec = StateSpecs.bag(VarIntCoder.of());

    @ProcessElement
    public void process(@StateId("bag") BagState<Integer> bag, OutputReceiver<String> out) {
      Iterable<Integer> before = bag.read();
      bag.add(17);
      out.output(Recorder.text(before) + " then " + Recorder.text(bag.read()));
    }
  }

  @Test
  void anIterableOfABagStaysAsItWasWhenTheBagGrows() {
    assertThat(readBy(new BagFn()), contains("[] then [17]", "[17] then [17, 17]"));
  }

  private static final class ClearedBagFn extends DoFn<KV<String, String>, String> {
    @StateId("bag")
    private final StateSpec<BagState<String>> bagSpec = StateSpecs.bag(StringUtf8Coder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("bag") BagState<String> bag,
        OutputReceiver<String> out) {
      bag.add(element.getValue());
      Iterable<String> before = bag.read();
      bag.clear();
      bag.add("new");
      out.output(Recorder.text(before) + " then " + Recorder.text(bag.read()));
    }
  }

  @Test
  void anIterableOfABagStaysAsItWasWhenTheBagIsCleared() {
    assertThat(readBy(new ClearedBagFn()), contains("[1] then [new]", "[2, new] then [new]"));
  }

  private static final class EntriesFn extends DoFn<KV<String, String>, String> {
    @StateId("map")
    private final StateSpec<MapState<String, Integer>> mapSpec =
        StateSpecs.map(StringUtf8Coder.of(), VarIntCoder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("map") MapState<String, Integer> map,
        OutputReceiver<String> out) {
      map.put("a" + element.getValue(), 0);
      map.put("b" + element.getValue(), 0);
      List<String> entries = new ArrayList<>();
      for (Map.Entry<String, Integer> entry : map.entries().read()) {
        entries.add(entry.getKey() + "=" + entry.getValue());
        map.put(entry.getKey(), entry.getValue() + 1);
        map.put("c" + element.getValue(), 7);
        map.remove("b" + element.getValue());
      }
      out.output(Recorder.text(entries));
    }
  }

  @Test
  void entriesOfAMapStayAsTheyWereWhileTheyAreIterated() {
    assertThat(
        readBy(new EntriesFn()), contains("[a1=0, b1=0]", "[a1=1, a2=0, b2=0, c1=7]"));
  }

  /** Reads all that has more than one value, changes it, and only then looks at what it has read. */
  private static final class ReadAheadFn extends DoFn<KV<String, String>, String> {
    @StateId("map")
    private final StateSpec<MapState<String, Integer>> mapSpec =
        StateSpecs.map(StringUtf8Coder.of(), VarIntCoder.of());

    @StateId("set")
    private final StateSpec<SetState<String>> setSpec = StateSpecs.set(StringUtf8Coder.of());

    @StateId("multimap")
    private final StateSpec<MultimapState<String, Integer>> multimapSpec =
        StateSpecs.multimap(StringUtf8Coder.of(), VarIntCoder.of());

    @StateId("list")
    private final StateSpec<OrderedListState<String>> listSpec =
        StateSpecs.orderedList(StringUtf8Coder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("map") MapState<String, Integer> map,
        @StateId("set") SetState<String> set,
        @StateId("multimap") MultimapState<String, Integer> multimap,
        @StateId("list") OrderedListState<String> list,
        OutputReceiver<String> out) {
      List<Iterable<?>> read =
          List.of(
              map.keys().read(),
              map.values().read(),
              map.entries().read(),
              set.read(),
              multimap.keys().read(),
              multimap.entries().read(),
              multimap.get("a").read(),
              list.read());
      String value = element.getValue();
      map.put("a", Integer.parseInt(value) + 1);
      map.put(value, 0);
      set.add(value);
      multimap.put("a", Integer.parseInt(value));
      multimap.put(value, 0);
      list.add(TimestampedValue.of(value, Instant.ofEpochMilli(0)));
      out.output(read.stream().map(ReadAheadFn::text).collect(Collectors.joining(" ")));
    }

    private static String text(Iterable<?> values) {
      List<String> texts = new ArrayList<>();
      for (Object value : values) {
        texts.add(
            value instanceof TimestampedValue<?> timestamped
                ? Recorder.text(timestamped.getValue())
                : Recorder.text(value));
      }
      return Recorder.text(texts);
    }
  }

  @Test
  void whatWasReadStaysAsItWasThoughItIsLookedAtLater() {
    assertThat(
        readBy(new ReadAheadFn()),
        contains(
            "[] [] [] [] [] [] [] []",
            "[1, a] [0, 2] [1=0, a=2] [1] [1, a] [1=0, a=1] [1] [1]"));
  }

  private static final class RemoveAndPutFn extends DoFn<KV<String, String>, String> {
    @StateId("map")
    private final StateSpec<MapState<String, Integer>> mapSpec =
        StateSpecs.map(StringUtf8Coder.of(), VarIntCoder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("map") MapState<String, Integer> map,
        OutputReceiver<String> out) {
      int number = Integer.parseInt(element.getValue());
      Integer before = map.get("put last").read();
      Integer goneBefore = map.get("removed last").read();
      map.remove("put last");
      map.put("put last", 10 * number);
      map.remove("put last");
      map.put("put last", 10 * number + 1);
      map.put("removed last", 1);
      map.remove("removed last");
      map.put("removed last", 2);
      map.remove("removed last");
      out.output(
          before + ", " + goneBefore + " then " + map.get("put last").read() + ", "
              + map.get("removed last").read());
    }
  }

  @Test
  void whatIsDoneLastToAnEntryOfAMapCounts() {
    assertThat(
        readBy(new RemoveAndPutFn()), contains("null, null then 11, null", "11, null then 21, null"));
  }

  private static final class MutatingFn extends DoFn<KV<String, String>, String> {
    @StateId("value")
    private final StateSpec<ValueState<List<Integer>>> valueSpec =
        StateSpecs.value(ListCoder.of(VarIntCoder.of()));

    @StateId("bag")
    private final StateSpec<BagState<List<Integer>>> bagSpec =
        StateSpecs.bag(ListCoder.of(VarIntCoder.of()));

    @StateId("map")
    private final StateSpec<MapState<String, List<Integer>>> mapSpec =
        StateSpecs.map(StringUtf8Coder.of(), ListCoder.of(VarIntCoder.of()));

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("value") ValueState<List<Integer>> value,
        @StateId("bag") BagState<List<Integer>> bag,
        @StateId("map") MapState<String, List<Integer>> map,
        OutputReceiver<String> out) {
      String found = value.read() + " " + Recorder.text(bag.read()) + " " + map.get("k").read();
      List<Integer> mutable = new ArrayList<>();
      mutable.add(Integer.parseInt(element.getValue()));
      value.write(mutable);
      bag.add(mutable);
      map.put("k", mutable);
      mutable.add(100);
      out.output(
          found + " then " + value.read() + " " + Recorder.text(bag.read()) + " "
              + map.get("k").read());
    }
  }

  @Test
  void whatIsDoneToAnObjectBehindItsWriteIsNotInTheState() {
    assertThat(
        readBy(new MutatingFn()),
        contains("null [] null then [1] [[1]] [1]", "[1] [[1]] [1] then [2] [[1], [2]] [2]"));
  }
}
