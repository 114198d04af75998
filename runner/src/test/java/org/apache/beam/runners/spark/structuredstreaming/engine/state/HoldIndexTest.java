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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStoreFixture.StoreKind;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shows that the earliest hold is always right, and cheap to know. */
class HoldIndexTest {
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
  void theEarliestHoldIsThatOfASortedListOverManyEpochs(StoreKind kind) {
    StateStoreFixture fixture = new StateStoreFixture(kind, directory);
    Random random = new Random(11);
    List<Long> model = new ArrayList<>();
    for (int epoch = 0; epoch < 10; epoch++) {
      StepRows rows = fixture.beginStep();
      HoldIndex holds = new HoldIndex(rows);
      assertThat(holds.earliest(), is(earliest(model)));
      for (int i = 0; i < 150; i++) {
        Long oldHold = model.isEmpty() ? null : pick(model, random);
        // Everything goes in the end, so that the index is seen to empty.
        Long newHold = epoch == 9 || random.nextInt(4) == 0 ? null : randomTime(random);
        if (random.nextBoolean() && epoch < 9) {
          oldHold = null;
        }
        holds.change(oldHold, newHold);
        model.remove(oldHold);
        if (newHold != null) {
          model.add(newHold);
        }
        if (random.nextInt(3) == 0) {
          assertThat(holds.earliest(), is(earliest(model)));
        }
      }
      while (epoch == 9 && !model.isEmpty()) {
        holds.release(model.remove(0));
        assertThat(holds.earliest(), is(earliest(model)));
      }
      holds.flush();
      rows.flush();
      fixture.commit();
      if (epoch % 3 == 2) {
        fixture.restart();
      }
    }
    assertThat(fixture.storedRows(), equalTo(List.of()));
  }

  private static Long pick(List<Long> model, Random random) {
    // The earliest is released often: that is what makes a bucket's bound inexact.
    return random.nextInt(3) == 0
        ? Long.valueOf(earliest(model))
        : model.get(random.nextInt(model.size()));
  }

  private static long earliest(List<Long> model) {
    return model.stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE);
  }

  private static long randomTime(Random random) {
    return switch (random.nextInt(5)) {
      case 0 -> BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();
      case 1 -> BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis() + random.nextInt(3);
      case 2 -> random.nextLong(-9_000_000_000_000_000L, 9_000_000_000_000_000L);
      case 3 -> random.nextInt(4);
      default -> random.nextInt(100_000) - 50_000;
    };
  }

  @Test
  void holdsInOtherBucketsAreNotRead() {
    CountingStateRows store = new CountingStateRows();
    StepRows rows = new StepRows(store, 1, "Step");
    HoldIndex holds = new HoldIndex(rows);
    for (int i = 0; i < 5_000; i++) {
      holds.add(3_600_000L + i * 97L);
    }
    holds.add(10);
    holds.add(20);
    holds.flush();
    store.resetCounts();

    HoldIndex nextEpoch = new HoldIndex(rows);
    assertThat(nextEpoch.earliest(), is(10L));
    nextEpoch.change(10L, 30L);
    assertThat(nextEpoch.earliest(), is(20L));
    nextEpoch.flush();
    assertThat(store.scannedRows, lessThan(20));
    assertThat(store.writes.size(), lessThan(10));
  }

  @Test
  void releasingWhatIsNotHeldNamesTheStep() {
    HoldIndex holds = new HoldIndex(new StepRows(new CountingStateRows(), 1, "Group/Step"));
    IllegalStateException error =
        assertThrows(IllegalStateException.class, () -> holds.release(7));
    assertThat(error.getMessage(), containsString("Group/Step: no watermark hold at 7 ms"));
  }
}
