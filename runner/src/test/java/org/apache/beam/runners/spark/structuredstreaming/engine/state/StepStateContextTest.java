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
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;
import static org.hamcrest.Matchers.sameInstance;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.core.StateInternals;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.core.StateNamespaces;
import org.apache.beam.runners.core.StateTag;
import org.apache.beam.runners.core.StateTags;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.sdk.coders.ByteArrayCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;

/** Shows that the cells of a bounded number of keys are kept in memory, and none is lost. */
class StepStateContextTest {
  private static final StateNamespace NAMESPACE =
      StateNamespaces.window(GlobalWindow.Coder.INSTANCE, GlobalWindow.INSTANCE);
  private static final StateTag<ValueState<Integer>> COUNT =
      StateTags.value("count", VarIntCoder.of());
  private static final StateTag<BagState<String>> BAG =
      StateTags.bag("bag", StringUtf8Coder.of());

  private final CountingStateRows store = new CountingStateRows();
  private final TestClock clock = new TestClock();

  private StepStateContext<String> context(int maxLiveKeys) {
    return new StepStateContext<>(
        new StepRows(store, 1, "Step"),
        StringUtf8Coder.of(),
        GlobalWindow.Coder.INSTANCE,
        clock,
        maxLiveKeys);
  }

  private StepStateContext<String> contextOfBytes(long maxHeldBytes) {
    return new StepStateContext<>(
        new StepRows(store, 1, "Step"),
        StringUtf8Coder.of(),
        GlobalWindow.Coder.INSTANCE,
        clock,
        1_000_000,
        maxHeldBytes);
  }

  private static byte[] key(String key) {
    return new ByteOutput().writeSized(key).toByteArray();
  }

  private static ValueState<Integer> count(KeyState<String> state) {
    return state.stateInternals().state(NAMESPACE, COUNT);
  }

  private static void increment(StepStateContext<String> context, String key) {
    ValueState<Integer> count = count(context.forKey(key(key)));
    Integer before = count.read();
    count.write(before == null ? 1 : before + 1);
  }

  @Test
  void aKeyTouchedAThousandTimesIsReadAndWrittenOnce() {
    StepStateContext<String> context = context(10);
    for (int i = 0; i < 1000; i++) {
      increment(context, "k");
    }
    assertThat(store.writes.size(), is(0));
    context.flush();
    assertThat(store.writes.values(), everyItem(is(1)));
    // One look for the value, one for the totals; writing looks once more, for the cache to answer.
    assertThat(store.gets.values(), everyItem(lessThanOrEqualTo(2)));
    assertThat(count(context(10).forKey(key("k"))).read(), is(1000));
  }

  @Test
  void keysBeyondTheLimitAreWrittenBackAndReadAgain() {
    StepStateContext<String> context = context(3);
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 20; i++) {
        increment(context, "k" + i);
      }
    }
    context.flush();
    StepStateContext<String> next = context(1);
    for (int i = 0; i < 20; i++) {
      assertThat(count(next.forKey(key("k" + i))).read(), is(5));
    }
  }

  @Test
  void theBytesThatCellsHoldBackStayWithinTheLimitAndAreGivenBack() {
    StepStateContext<String> context = contextOfBytes(10_000);
    StateTag<ValueState<byte[]>> blob = StateTags.value("blob", ByteArrayCoder.of());
    for (int i = 0; i < 500; i++) {
      StateInternals state = context.forKey(key("k" + i % 60)).stateInternals();
      // After the call at most the key asked for is above the limit: each adds less than 1000.
      assertThat(context.heldBytes(), lessThanOrEqualTo(10_000L));
      state.state(NAMESPACE, BAG).add("x".repeat(i));
      state.state(NAMESPACE, blob).write(new byte[i / 2]);
    }
    context.flush();
    StepStateContext<String> next = contextOfBytes(1);
    for (int key = 0; key < 60; key++) {
      StateInternals state = next.forKey(key("k" + key)).stateInternals();
      List<String> elements = new ArrayList<>();
      state.state(NAMESPACE, BAG).read().forEach(elements::add);
      List<String> expected = new ArrayList<>();
      for (int i = key; i < 500; i += 60) {
        expected.add("x".repeat(i));
      }
      assertThat(elements, is(expected));
      state.state(NAMESPACE, BAG).clear();
      state.state(NAMESPACE, blob).clear();
      assertThat(next.heldBytes(), is(0L));
    }
    next.flush();
    assertThat(store.size(), is(0));
  }

  @Test
  void theKeyAskedForLastIsNeverWrittenBackUnderItsUser() {
    StepStateContext<String> context = context(2);
    KeyState<String> hot = context.forKey(key("hot"));
    context.forKey(key("a"));
    assertThat(context.forKey(key("hot")), sameInstance(hot));
    context.forKey(key("b"));
    assertThat(context.forKey(key("hot")), sameInstance(hot));
  }

  @Test
  void stateOfAKeyThatWasWrittenBackRefusesToBeUsed() {
    StepStateContext<String> context = context(1);
    KeyState<String> old = context.forKey(key("a"));
    context.forKey(key("b"));
    assertThrows(IllegalStateException.class, () -> count(old));
  }

  @Test
  void iterablesOfAKeyThatWasWrittenBackStayAsTheyWere() {
    StepStateContext<String> context = context(1);
    List<String> elements = new ArrayList<>();
    BagState<String> bag = context.forKey(key("a")).stateInternals().state(NAMESPACE, BAG);
    for (int i = 0; i < 2_000; i++) {
      elements.add("element " + i + "x".repeat(60));
      bag.add(elements.get(i));
    }
    Iterable<String> read = bag.read();
    context.forKey(key("b"));
    context.forKey(key("a")).stateInternals().state(NAMESPACE, BAG).clear();
    context.forKey(key("b"));
    context.flush();
    List<String> after = new ArrayList<>();
    read.forEach(after::add);
    assertThat(after, is(elements));
    assertThat(store.size(), is(0));
  }

  @Test
  void timersGoByTheStepsClockAndComeBackWithTheirKey() {
    StepStateContext<String> context = context(10);
    clock.advanceInputWatermark(500);
    clock.advanceProcessingTime(700);
    KeyState<String> a = context.forKey(key("a"));
    assertThat(a.timerInternals().currentInputWatermarkTime(), is(Instant.ofEpochMilli(500)));
    assertThat(a.timerInternals().currentProcessingTime(), is(Instant.ofEpochMilli(700)));
    a.timerInternals()
        .setTimer(
            NAMESPACE,
            "id",
            "",
            Instant.ofEpochMilli(600),
            Instant.ofEpochMilli(600),
            TimeDomain.EVENT_TIME);
    context.flush();
    StepStateContext<String> next = context(10);
    assertThat(next.holds().earliest(), is(600L));
    FiredTimer fired = next.nextDue(TimeDomain.EVENT_TIME, 601);
    assertThat(next.forKey(fired.key()).key(), is("a"));
    assertThat(List.of(fired.timer().getTimerId()), contains("id"));
    next.flush();
    assertThat(store.size(), is(0));
  }

  /** Set to the same time again, a timer is looked for once; what is gone is set anew. */
  @Test
  void aTimerThatHasGoneIsSetAgainToTheTimeItHadBefore() {
    StepStateContext<String> context = context(10);
    KeyState<String> a = context.forKey(key("a"));
    for (int i = 0; i < 100; i++) {
      set(a, 10);
    }
    assertThat(store.gets.values(), everyItem(lessThanOrEqualTo(2)));
    assertThat(fired(context), is(List.of(10L)));
    set(a, 10);
    assertThat("behind its firing", fired(context), is(List.of(10L)));
    set(a, 10);
    a.timerInternals().deleteTimer(NAMESPACE, "t", "", TimeDomain.EVENT_TIME);
    assertThat(fired(context), is(List.of()));
    set(a, 10);
    assertThat("behind its deletion", fired(context), is(List.of(10L)));
    set(a, 10);
    context.timers().deleteAll(key("a"), NAMESPACE);
    set(a, 10);
    assertThat("behind that of its window", fired(context), is(List.of(10L)));
    set(a, 10);
    set(a, 20);
    set(a, 10);
    assertThat("moved away and back", fired(context), is(List.of(10L)));
  }

  private static void set(KeyState<String> key, long time) {
    Instant at = Instant.ofEpochMilli(time);
    key.timerInternals().setTimer(NAMESPACE, "t", "", at, at, TimeDomain.EVENT_TIME);
  }

  private static List<Long> fired(StepStateContext<String> context) {
    List<Long> fired = new ArrayList<>();
    FiredTimer next = context.nextDue(TimeDomain.EVENT_TIME, 100);
    while (next != null) {
      fired.add(next.timer().getTimestamp().getMillis());
      next = context.nextDue(TimeDomain.EVENT_TIME, 100);
    }
    return fired;
  }
}
