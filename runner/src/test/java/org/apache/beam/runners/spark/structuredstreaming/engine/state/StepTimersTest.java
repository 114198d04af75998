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
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;
import static org.hamcrest.Matchers.lessThanOrEqualTo;
import static org.hamcrest.Matchers.nullValue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.core.StateNamespaces;
import org.apache.beam.runners.core.TimerInternals;
import org.apache.beam.runners.core.TimerInternals.TimerData;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStoreFixture.StoreKind;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shows that timers fire when due, once, in order, and cost nothing while they are not due. */
class StepTimersTest {
  private static final long END = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();
  private static final StateNamespace GLOBAL =
      StateNamespaces.window(GlobalWindow.Coder.INSTANCE, GlobalWindow.INSTANCE);

  @TempDir Path directory;

  @BeforeAll
  static void startSpark() {
    StateStoreFixture.startSpark();
  }

  @AfterAll
  static void stopSpark() {
    StateStoreFixture.stopSpark();
  }

  @ParameterizedTest
  @EnumSource
  void firingsAreThoseOfASortedListOverManyEpochs(StoreKind kind) {
    StateStoreFixture fixture = new StateStoreFixture(kind, directory);
    Random random = new Random(5);
    TimerModel model = new TimerModel();
    Map<TimeDomain, Long> now = new EnumMap<>(TimeDomain.class);
    for (int epoch = 0; epoch < 15; epoch++) {
      StepRows rows = fixture.beginStep();
      HoldIndex holds = new HoldIndex(rows);
      StepTimers timers = new StepTimers(rows, holds, IntervalWindow.getCoder());
      for (int i = 0; i < 60; i++) {
        setOrDelete(timers, model, random, now);
      }
      for (TimeDomain domain : TimeDomain.values()) {
        long time = now.merge(domain, (long) random.nextInt(4_000), Long::sum);
        if (epoch == 14) {
          time = END;
        }
        fireAll(timers, model, domain, time, epoch == 14 ? null : random, now);
        assertThat(timers.earliestDue(domain), lessThanOrEqualTo(model.earliest(domain)));
      }
      assertThat(holds.earliest(), is(model.earliestHold()));
      timers.flush();
      holds.flush();
      rows.flush();
      fixture.commit();
      if (epoch % 4 == 3) {
        fixture.restart();
      }
    }
    assertThat(fixture.storedRows(), equalTo(List.of()));
  }

  private static void fireAll(
      StepTimers timers,
      TimerModel model,
      TimeDomain domain,
      long time,
      Random random,
      Map<TimeDomain, Long> now) {
    while (true) {
      FiredTimer fired = timers.nextDue(domain, time);
      TimerData expected = model.removeNext(domain, time);
      if (expected == null) {
        assertThat(fired, nullValue());
        return;
      }
      assertThat(fired.timer().getTimestamp(), is(expected.getTimestamp()));
      // At one timestamp the order is fixed but not the model's: take the same one out.
      model.settle(expected, fired);
      if (random != null && random.nextInt(3) == 0) {
        setOrDelete(timers, model, random, now);
      }
    }
  }

  private static void setOrDelete(
      StepTimers timers, TimerModel model, Random random, Map<TimeDomain, Long> now) {
    byte[] key = {(byte) random.nextInt(3), (byte) random.nextInt(3)};
    long windowStart = random.nextInt(2) * 10_000L;
    StateNamespace namespace =
        StateNamespaces.window(
            IntervalWindow.getCoder(),
            new IntervalWindow(Instant.ofEpochMilli(windowStart), Duration.millis(10_000)));
    String family = random.nextBoolean() ? "" : "family";
    String id = "id" + random.nextInt(3);
    TimeDomain domain = List.of(TimeDomain.values()).get(random.nextInt(3));
    if (random.nextInt(4) == 0) {
      timers.delete(key, namespace, family, id, domain);
      model.timers.remove(TimerModel.identity(key, namespace, family, id, domain));
    } else {
      long time = now.getOrDefault(domain, 0L) + random.nextInt(9_000) - 2_000;
      long output = random.nextInt(6) == 0 ? END + 1 : time - random.nextInt(500);
      TimerData timer = timer(namespace, family, id, time, output, domain);
      timers.set(key, timer);
      model.timers.put(TimerModel.identity(key, namespace, family, id, domain), timer);
    }
  }

  /** All timers in a list. */
  private static final class TimerModel {
    final Map<String, TimerData> timers = new HashMap<>();

    static String identity(
        byte[] key, StateNamespace namespace, String family, String id, TimeDomain domain) {
      return key[0] + "," + key[1] + namespace.stringKey() + family + ":" + id + domain;
    }

    TimerData removeNext(TimeDomain domain, long now) {
      Map.Entry<String, TimerData> first =
          timers.entrySet().stream()
              .filter(entry -> entry.getValue().getDomain() == domain)
              .filter(e -> e.getValue().getTimestamp().getMillis() < now)
              .min(Map.Entry.comparingByValue())
              .orElse(null);
      if (first == null) {
        return null;
      }
      timers.remove(first.getKey());
      removedIdentity = first.getKey();
      return first.getValue();
    }

    private String removedIdentity;

    void settle(TimerData removed, FiredTimer fired) {
      TimerData timer = fired.timer();
      String identity =
          identity(
              fired.key(),
              timer.getNamespace(),
              timer.getTimerFamilyId(),
              timer.getTimerId(),
              timer.getDomain());
      timers.put(removedIdentity, removed);
      assertThat(timers.remove(identity), equalTo(timer));
    }

    long earliest(TimeDomain domain) {
      return timers.values().stream()
          .filter(timer -> timer.getDomain() == domain)
          .mapToLong(timer -> timer.getTimestamp().getMillis())
          .min()
          .orElse(Long.MAX_VALUE);
    }

    long earliestHold() {
      return timers.values().stream()
          .mapToLong(timer -> timer.getOutputTimestamp().getMillis())
          .filter(output -> output <= END)
          .min()
          .orElse(Long.MAX_VALUE);
    }
  }

  @Test
  void aTimerClearedByAnEarlierCallbackOfTheSameEpochDoesNotFire() {
    Timers timers = new Timers();
    timers.set("k", "A", 5_000);
    timers.set("k", "B", 6_000);
    assertThat(timers.fireOne(10_000), is("k A 5000"));
    timers.internals("k").deleteTimer(GLOBAL, "B", "", TimeDomain.EVENT_TIME);
    assertThat(timers.fireAll(30_000), empty());
  }

  @Test
  void aTimerSetAgainByAnEarlierCallbackFiresAtItsNewTimeOnly() {
    Timers timers = new Timers();
    timers.set("k", "A", 5_000);
    timers.set("k", "B", 6_000);
    assertThat(timers.fireOne(10_000), is("k A 5000"));
    timers.set("k", "B", 20_000);
    assertThat(timers.fireAll(10_000), empty());
    assertThat(timers.fireAll(30_000), contains("k B 20000"));
    assertThat(timers.fireAll(END), empty());
  }

  @Test
  void aTimerSetByACallbackForATimeAlreadyPassedFiresInItsTurn() {
    Timers timers = new Timers();
    timers.set("k", "A", 5_000);
    timers.set("k", "C", 7_000);
    assertThat(timers.fireOne(10_000), is("k A 5000"));
    timers.set("k", "B", 3_000);
    assertThat(timers.fireAll(10_000), contains("k B 3000", "k C 7000"));
  }

  @Test
  void timersFireInTheOrderOfTheirTimesWhateverTheirIds() {
    Timers timers = new Timers();
    timers.set("k", "b", 2_000);
    timers.set("k", "a", 3_000);
    timers.set("k", "c", 1_000);
    timers.set("j", "d", 2_500);
    assertThat(
        timers.fireAll(10_000), contains("k c 1000", "k b 2000", "j d 2500", "k a 3000"));
  }

  @Test
  void aTimerIsDueOnceTimeHasPassedItNotWhenItIsReached() {
    Timers timers = new Timers();
    timers.set("k", "a", 1_000);
    assertThat(timers.fireAll(1_000), empty());
    assertThat(timers.fireAll(1_001), contains("k a 1000"));
  }

  @Test
  void timersAtAndBeyondTheLastTimestampFireAtTheEndOfTime() {
    Timers timers = new Timers();
    timers.set("k", "gc", GlobalWindow.INSTANCE.maxTimestamp().getMillis() + 1);
    timers.set("k", "last", END);
    timers.set("k", "beyond", END + 1);
    assertThat(timers.fireAll(END - 1).size(), is(1));
    assertThat(timers.fireAll(END), contains("k last " + END, "k beyond " + (END + 1)));
    timers.flush();
    assertThat(timers.store.size(), is(0));
  }

  @Test
  void aTimerHoldsTheWatermarkAtItsOutputTimeUntilItIsGone() {
    Timers timers = new Timers();
    timers.timers.set(bytes("k"), timer(GLOBAL, "", "a", 9_000, 400, TimeDomain.PROCESSING_TIME));
    timers.timers.set(bytes("k"), timer(GLOBAL, "", "b", 9_000, 500, TimeDomain.EVENT_TIME));
    timers.timers.set(bytes("k"), timer(GLOBAL, "", "c", 9_000, END + 1, TimeDomain.EVENT_TIME));
    assertThat(timers.holds.earliest(), is(400L));
    timers.timers.set(bytes("k"), timer(GLOBAL, "", "a", 9_000, 700, TimeDomain.PROCESSING_TIME));
    assertThat(timers.holds.earliest(), is(500L));
    timers.fireAll(10_000);
    assertThat(timers.holds.earliest(), is(700L));
    timers.timers.delete(bytes("k"), GLOBAL, "", "a", TimeDomain.PROCESSING_TIME);
    assertThat(timers.holds.earliest(), is(Long.MAX_VALUE));
    timers.flush();
    assertThat(timers.store.size(), is(0));
  }

  @Test
  void equalIdsInOtherFamiliesDomainsAndKeysAreOtherTimers() {
    Timers timers = new Timers();
    timers.set("k", "x", 1_000);
    timers.set("j", "x", 1_000);
    timers.timers.set(bytes("k"), timer(GLOBAL, "f", "x", 1_000, 1_000, TimeDomain.EVENT_TIME));
    timers.timers.set(bytes("k"), timer(GLOBAL, "", "x", 1, 1, TimeDomain.PROCESSING_TIME));
    timers.timers.delete(bytes("k"), GLOBAL, "", "x", TimeDomain.EVENT_TIME);
    assertThat(timers.fireAll(2_000), contains("j x 1000", "k x 1000"));
    assertThat(timers.timers.earliestDue(TimeDomain.PROCESSING_TIME), is(1L));
  }

  @Test
  void timersThatAreNotDueAreNeitherReadNorWritten() {
    Timers timers = new Timers();
    for (int i = 0; i < 20_000; i++) {
      timers.set("k" + i, "far", 3_600_000 + i % 900);
    }
    timers.set("k", "near", 1_000);
    timers.flush();
    timers.store.resetCounts();
    Timers nextEpoch = timers.nextEpoch();
    assertThat(nextEpoch.fireAll(60_000), contains("k near 1000"));
    nextEpoch.set("k", "new", 3_600_001);
    nextEpoch.internals("k7").deleteTimer(GLOBAL, "far", "", TimeDomain.EVENT_TIME);
    assertThat(nextEpoch.timers.earliestDue(TimeDomain.EVENT_TIME), is(3_600_000L));
    nextEpoch.flush();
    assertThat(timers.store.scannedRows, lessThan(20));
    assertThat(timers.store.writes.size(), lessThan(25));
  }

  @Test
  void theNextWakeUpIsExactUntilTheEarliestIsDeletedAndNeverTooLate() {
    Timers timers = new Timers();
    timers.set("k", "a", 50_000);
    timers.set("k", "b", 50_100);
    assertThat(timers.timers.earliestDue(TimeDomain.EVENT_TIME), is(50_000L));
    timers.internals("k").deleteTimer(GLOBAL, "a", "", TimeDomain.EVENT_TIME);
    assertThat(timers.timers.earliestDue(TimeDomain.EVENT_TIME), lessThanOrEqualTo(50_100L));
    assertThat(timers.timers.earliestDue(TimeDomain.EVENT_TIME), greaterThanOrEqualTo(49_076L));
    assertThat(timers.fireAll(50_050), empty());
    assertThat(timers.timers.earliestDue(TimeDomain.EVENT_TIME), is(50_100L));
  }

  private static TimerData timer(
      StateNamespace namespace,
      String family,
      String id,
      long time,
      long output,
      TimeDomain domain) {
    return TimerData.of(
        id, family, namespace, Instant.ofEpochMilli(time), Instant.ofEpochMilli(output), domain);
  }

  private static byte[] bytes(String text) {
    return StoreStateRowsTest.bytes(text);
  }

  /** Event-time timers over rows in a map. */
  private static final class Timers {
    final CountingStateRows store;
    final StepRows rows;
    final HoldIndex holds;
    final StepTimers timers;

    Timers() {
      this(new CountingStateRows());
    }

    private Timers(CountingStateRows store) {
      this.store = store;
      this.rows = new StepRows(store, 1, "Step");
      this.holds = new HoldIndex(rows);
      this.timers = new StepTimers(rows, holds, GlobalWindow.Coder.INSTANCE);
    }

    void set(String key, String id, long time) {
      internals(key)
          .setTimer(
              GLOBAL,
              id,
              "",
              Instant.ofEpochMilli(time),
              Instant.ofEpochMilli(time),
              TimeDomain.EVENT_TIME);
    }

    TimerInternals internals(String key) {
      return new KeyTimerInternals(bytes(key), timers, new TestClock());
    }

    String fireOne(long now) {
      FiredTimer fired = timers.nextDue(TimeDomain.EVENT_TIME, now);
      return fired == null
          ? null
          : StoreStateRowsTest.text(fired.key())
              + " "
              + fired.timer().getTimerId()
              + " "
              + fired.timer().getTimestamp().getMillis();
    }

    List<String> fireAll(long now) {
      List<String> all = new ArrayList<>();
      for (String fired = fireOne(now); fired != null; fired = fireOne(now)) {
        all.add(fired);
      }
      return all;
    }

    void flush() {
      timers.flush();
      holds.flush();
      rows.flush();
    }

    Timers nextEpoch() {
      return new Timers(store);
    }
  }
}
