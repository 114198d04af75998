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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.emptyIterable;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.nullValue;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.apache.beam.runners.core.StateInternals;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.core.StateNamespaces;
import org.apache.beam.runners.core.StateTag;
import org.apache.beam.runners.core.StateTags;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStoreFixture.StoreKind;
import org.apache.beam.sdk.coders.ListCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.coders.VoidCoder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.CombiningState;
import org.apache.beam.sdk.state.MapState;
import org.apache.beam.sdk.state.MultimapState;
import org.apache.beam.sdk.state.OrderedListState;
import org.apache.beam.sdk.state.SetState;
import org.apache.beam.sdk.state.State;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.state.WatermarkHoldState;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.values.TimestampedValue;
import org.joda.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shows what state cells keep from epoch to epoch, and that what was read from them stays. */
class StateCellsTest {
  private static final StateNamespace NAMESPACE =
      StateNamespaces.window(GlobalWindow.Coder.INSTANCE, GlobalWindow.INSTANCE);
  private static final StateTag<ValueState<List<String>>> VALUE =
      StateTags.value("value", ListCoder.of(StringUtf8Coder.of()));
  private static final StateTag<BagState<String>> BAG =
      StateTags.bag("bag", StringUtf8Coder.of());
  private static final StateTag<SetState<String>> SET =
      StateTags.set("set", StringUtf8Coder.of());
  private static final StateTag<MapState<String, Integer>> MAP =
      StateTags.map("map", StringUtf8Coder.of(), VarIntCoder.of());
  private static final StateTag<MultimapState<String, Integer>> MULTIMAP =
      StateTags.multimap("multimap", StringUtf8Coder.of(), VarIntCoder.of());
  private static final StateTag<OrderedListState<String>> ORDERED =
      StateTags.orderedList("ordered", StringUtf8Coder.of());
  private static final StateTag<CombiningState<Integer, int[], Integer>> SUM =
      StateTags.combiningValueFromInputInternal("sum", VarIntCoder.of(), Sum.ofIntegers());
  private static final StateTag<WatermarkHoldState> HOLD =
      StateTags.watermarkStateInternal("hold", TimestampCombiner.EARLIEST);

  @TempDir Path directory;

  private StateStoreFixture fixture;
  private StepStateContext<String> context;
  private StateInternals state;

  @BeforeAll
  static void startSpark() {
    StateStoreFixture.startSpark();
  }

  @AfterAll
  static void stopSpark() {
    StateStoreFixture.stopSpark();
  }

  private void start(StoreKind kind) {
    fixture = new StateStoreFixture(kind, directory);
    begin();
  }

  private void begin() {
    context =
        new StepStateContext<>(
            fixture.beginStep(),
            StringUtf8Coder.of(),
            GlobalWindow.Coder.INSTANCE,
            new TestClock(),
            100);
    byte[] key = new ByteOutput().writeSized("key").toByteArray();
    state = context.forKey(key).stateInternals();
    assertThat(state.getKey(), is("key"));
  }

  private void nextEpoch() {
    context.flush();
    fixture.commit();
    fixture.restart();
    begin();
  }

  private <T extends State> T cell(StateTag<T> tag) {
    return state.state(NAMESPACE, tag);
  }

  @ParameterizedTest
  @EnumSource
  void everyKindOfCellKeepsItsContentsAndLeavesNoRowsOnceCleared(StoreKind kind) {
    start(kind);
    for (int epoch = 0; epoch < 3; epoch++) {
      cell(VALUE).write(List.of("v" + epoch));
      cell(BAG).add("b" + epoch);
      cell(SET).add("s" + epoch);
      cell(SET).add("again");
      cell(MAP).put("m" + epoch, epoch);
      cell(MULTIMAP).put("k" + epoch % 2, epoch);
      cell(ORDERED).add(TimestampedValue.of("o" + epoch, Instant.ofEpochMilli(-epoch)));
      cell(SUM).add(1);
      cell(HOLD).add(Instant.ofEpochMilli(100 - epoch));
      nextEpoch();
    }
    assertThat(cell(VALUE).read(), contains("v2"));
    assertThat(cell(BAG).read(), contains("b0", "b1", "b2"));
    assertThat(cell(SET).read(), containsInAnyOrder("s0", "s1", "s2", "again"));
    assertThat(
        cell(MAP).entries().read(),
        containsInAnyOrder(Map.entry("m0", 0), Map.entry("m1", 1), Map.entry("m2", 2)));
    assertThat(cell(MULTIMAP).get("k0").read(), contains(0, 2));
    assertThat(cell(MULTIMAP).keys().read(), containsInAnyOrder("k0", "k1"));
    assertThat(
        cell(MULTIMAP).entries().read(),
        containsInAnyOrder(Map.entry("k0", 0), Map.entry("k0", 2), Map.entry("k1", 1)));
    assertThat(values(cell(ORDERED).read()), contains("o2", "o1", "o0"));
    assertThat(cell(SUM).read(), is(3));
    assertThat(cell(HOLD).read(), is(Instant.ofEpochMilli(98)));
    assertThat(context.holds().earliest(), is(98L));

    for (StateTag<?> tag : List.of(VALUE, BAG, SET, MAP, MULTIMAP, ORDERED, SUM, HOLD)) {
      cell(tag).clear();
    }
    assertThat(context.holds().earliest(), is(Long.MAX_VALUE));
    nextEpoch();
    assertThat(cell(VALUE).read(), nullValue());
    assertThat(cell(BAG).isEmpty().read(), is(true));
    assertThat(cell(SET).isEmpty().read(), is(true));
    assertThat(cell(MAP).isEmpty().read(), is(true));
    assertThat(cell(MULTIMAP).isEmpty().read(), is(true));
    assertThat(cell(ORDERED).isEmpty().read(), is(true));
    assertThat(cell(SUM).isEmpty().read(), is(true));
    assertThat(cell(HOLD).isEmpty().read(), is(true));
    nextEpoch();
    fixture.abort();
    assertThat(fixture.storedRows(), equalTo(List.of()));
  }

  @ParameterizedTest
  @EnumSource
  void anIterableReadEarlierStaysAsItWas(StoreKind kind) {
    start(kind);
    for (int epoch = 0; epoch < 2; epoch++) {
      Iterable<String> emptyBag = cell(BAG).read();
      cell(BAG).add("17");
      assertThat(emptyBag, emptyIterable());
      Iterable<String> one = cell(BAG).read();
      cell(BAG).add("18");
      assertThat(one, contains("17"));
      Iterable<String> two = cell(BAG).read();
      cell(BAG).clear();
      cell(BAG).add("19");
      assertThat(two, contains("17", "18"));
      assertThat(cell(BAG).read(), contains("19"));
      cell(BAG).clear();

      cell(SET).add("a");
      Iterable<String> set = cell(SET).read();
      cell(SET).add("b");
      cell(SET).remove("a");
      assertThat(set, contains("a"));
      cell(SET).clear();
      nextEpoch();
    }
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void theChunksOfALargeBagAreReadLazilyAndOutliveItsClearing(StoreKind kind) {
    start(kind);
    List<String> expected = new ArrayList<>();
    for (int epoch = 0; epoch < 3; epoch++) {
      for (int i = 0; i < 3_000; i++) {
        String element = epoch + "-" + "x".repeat(i % 90);
        cell(BAG).add(element);
        expected.add(element);
      }
      nextEpoch();
    }
    Iterable<String> before = cell(BAG).read();
    cell(BAG).clear();
    cell(BAG).add("after");
    context.flush();
    assertThat(list(before), equalTo(expected));
    assertThat(cell(BAG).read(), contains("after"));
    nextEpoch();
    assertThat(cell(BAG).read(), contains("after"));
    cell(BAG).clear();
    nextEpoch();
    fixture.abort();
    assertThat(fixture.storedRows(), equalTo(List.of()));
  }

  @ParameterizedTest
  @EnumSource
  void aMapMayBeChangedWhileItsEntriesAreIteratedAndTheLastPutWins(StoreKind kind) {
    start(kind);
    cell(MAP).put("a", 1);
    cell(MAP).put("b", 2);
    for (int epoch = 0; epoch < 2; epoch++) {
      List<String> seen = new ArrayList<>();
      for (Map.Entry<String, Integer> entry : cell(MAP).entries().read()) {
        seen.add(entry.toString());
        cell(MAP).put("new" + entry.getKey(), 9);
        cell(MAP).put(entry.getKey(), 5);
      }
      assertThat(seen, containsInAnyOrder("a=1", "b=2"));
      cell(MAP).clear();
      cell(MAP).remove("a");
      cell(MAP).put("a", 7);
      cell(MAP).remove("a");
      cell(MAP).put("a", 1);
      cell(MAP).put("b", 2);
      nextEpoch();
      assertThat(cell(MAP).get("a").read(), is(1));
    }
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void changingAnObjectAfterItWasWrittenIsNotVisible(StoreKind kind) {
    start(kind);
    List<String> object = new ArrayList<>(List.of("written"));
    cell(VALUE).write(object);
    object.add("later");
    assertThat(cell(VALUE).read(), contains("written"));
    cell(VALUE).read().add("to what was read");
    assertThat(cell(VALUE).read(), contains("written"));
    nextEpoch();
    assertThat(cell(VALUE).read(), contains("written"));
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void rangesOfAnOrderedListAreHalfOpenAndKeepTheOrderOfAdding(StoreKind kind) {
    start(kind);
    for (int i = 0; i < 20; i++) {
      cell(ORDERED)
          .add(TimestampedValue.of("v" + i, Instant.ofEpochMilli((i * 7 % 10) - 5)));
      if (i % 6 == 5) {
        nextEpoch();
      }
    }
    Instant from = Instant.ofEpochMilli(-2);
    Instant to = Instant.ofEpochMilli(1);
    Iterable<TimestampedValue<String>> range = cell(ORDERED).readRange(from, to);
    cell(ORDERED).clearRange(from, to);
    assertThat(values(range), contains("v9", "v19", "v2", "v12", "v5", "v15"));
    assertThat(cell(ORDERED).readRange(from, to), emptyIterable());
    assertThat(list(cell(ORDERED).read()).size(), is(14));
    nextEpoch();
    assertThat(list(cell(ORDERED).read()).size(), is(14));
    assertThat(cell(ORDERED).readRange(from, to), emptyIterable());
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void elementsWithoutBytesAreCounted(StoreKind kind) {
    start(kind);
    StateTag<BagState<Void>> nothings = StateTags.bag("nothings", VoidCoder.of());
    IntStream.range(0, 5).forEach(i -> cell(nothings).add(null));
    nextEpoch();
    cell(nothings).add(null);
    assertThat(list(cell(nothings).read()).size(), is(6));
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void systemAndUserCellsOfOneNameAreDifferentCells(StoreKind kind) {
    start(kind);
    StateTag<ValueState<String>> user = StateTags.value("same", StringUtf8Coder.of());
    StateTag<ValueState<String>> system = StateTags.makeSystemTagInternal(user);
    cell(user).write("user");
    cell(system).write("system");
    nextEpoch();
    assertThat(cell(user).read(), is("user"));
    assertThat(cell(system).read(), is("system"));
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void aCellWhoseCoderChangedSaysWhichCellItIs(StoreKind kind) {
    start(kind);
    cell(StateTags.value("total", StringUtf8Coder.of())).write("a text");
    nextEpoch();
    IllegalStateException error =
        assertThrows(
            IllegalStateException.class,
            () -> cell(StateTags.value("total", VarIntCoder.of())).read());
    assertThat(error.getMessage(), containsString(StateStoreFixture.STEP_NAME));
    assertThat(error.getMessage(), containsString("state total"));
    assertThat(error.getMessage(), containsString("another coder"));
    fixture.abort();
  }

  private static <T> List<T> list(Iterable<T> iterable) {
    return StreamSupport.stream(iterable.spliterator(), false).toList();
  }

  private static List<String> values(Iterable<TimestampedValue<String>> iterable) {
    return list(iterable).stream().map(TimestampedValue::getValue).toList();
  }
}
