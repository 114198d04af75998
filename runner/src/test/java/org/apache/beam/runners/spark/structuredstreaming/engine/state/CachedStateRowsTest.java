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

import static org.apache.beam.runners.spark.structuredstreaming.engine.state.StoreStateRowsTest.bytes;
import static org.apache.beam.runners.spark.structuredstreaming.engine.state.StoreStateRowsTest.scan;
import static org.apache.beam.runners.spark.structuredstreaming.engine.state.StoreStateRowsTest.text;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.anEmptyMap;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Random;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStoreFixture.StoreKind;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Shows that the cache reads as the store would, and spares it. */
class CachedStateRowsTest {
  private static final int PREFIXES = 5;
  private static final int SUFFIXES = 12;

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
  void randomChangesReadAsInAPlainMapOverManyEpochs(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    Map<String, Map<String, String>> model = new HashMap<>();
    Random random = new Random(20260101);
    for (int epoch = 0; epoch < 12; epoch++) {
      // From a cache that spills all the time to one that never does.
      StateRows rows = fixture.begin(epoch % 3 == 0 ? 2_000 : 1L << (8 + epoch));
      Map<String, Map<String, String>> before = copy(model);
      changeAtRandom(rows, model, random, 400);
      if (epoch % 4 == 3) {
        fixture.abort();
        model = before;
      } else {
        fixture.commit();
      }
      if (epoch % 5 == 4) {
        fixture.restart();
      }
    }
    StateRows rows = fixture.begin();
    for (int prefix = 0; prefix < PREFIXES; prefix++) {
      assertThat(scan(rows, "p" + prefix), equalTo(model.getOrDefault("p" + prefix, Map.of())));
    }
    fixture.abort();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 1_500, 100_000})
  void randomChangesReadAsInAPlainMapWhateverTheMemory(long limitBytes) {
    CountingStateRows store = new CountingStateRows();
    CachedStateRows rows = new CachedStateRows(store, limitBytes);
    Map<String, Map<String, String>> model = new HashMap<>();
    Random random = new Random(limitBytes);
    for (int round = 0; round < 20; round++) {
      changeAtRandom(rows, model, random, 500);
      rows.flush();
      assertThat(store.size(), is(model.values().stream().mapToInt(Map::size).sum()));
    }
  }

  private static void changeAtRandom(
      StateRows rows, Map<String, Map<String, String>> model, Random random, int changes) {
    for (int i = 0; i < changes; i++) {
      String prefix = "p" + random.nextInt(PREFIXES);
      String suffix = "s" + random.nextInt(SUFFIXES);
      Map<String, String> expected = model.computeIfAbsent(prefix, key -> new HashMap<>());
      switch (random.nextInt(7)) {
        case 0, 1 -> {
          String value = "v".repeat(random.nextInt(30)) + i;
          if (expected.containsKey(suffix) || random.nextBoolean()) {
            rows.put(bytes(prefix), bytes(suffix), bytes(value));
          } else {
            rows.insert(bytes(prefix), bytes(suffix), bytes(value));
          }
          expected.put(suffix, value);
        }
        case 2 -> {
          rows.remove(bytes(prefix), bytes(suffix));
          expected.remove(suffix);
        }
        case 3 -> {
          if (random.nextInt(4) == 0) {
            assertThat(scan(rows, prefix), equalTo(expected));
          }
        }
        case 4 -> {
          if (random.nextInt(8) == 0) {
            model.put(prefix, drainAndKeepSome(rows, prefix, expected));
          }
        }
        default -> {
          byte[] value = rows.get(bytes(prefix), bytes(suffix));
          assertThat(value == null ? null : text(value), equalTo(expected.get(suffix)));
        }
      }
    }
  }

  /** Drains a prefix; every other row is written again as soon as it is drained. */
  private static Map<String, String> drainAndKeepSome(
      StateRows rows, String prefix, Map<String, String> expected) {
    Map<String, String> drained = new HashMap<>();
    Map<String, String> kept = new HashMap<>();
    for (Iterator<StateRow> each = rows.drain(bytes(prefix)); each.hasNext(); ) {
      StateRow row = each.next();
      drained.put(text(row.suffix()), text(row.value()));
      if (drained.size() % 2 == 0) {
        rows.insert(bytes(prefix), row.suffix(), bytes("kept"));
        kept.put(text(row.suffix()), "kept");
      }
    }
    assertThat(drained, equalTo(expected));
    return kept;
  }

  private static Map<String, Map<String, String>> copy(Map<String, Map<String, String>> model) {
    Map<String, Map<String, String>> copy = new HashMap<>();
    model.forEach((prefix, rows) -> copy.put(prefix, new HashMap<>(rows)));
    return copy;
  }

  @Test
  void aRowTouchedAThousandTimesIsReadOnceAndWrittenOnce() {
    CountingStateRows store = new CountingStateRows();
    store.put(bytes("p"), bytes("a"), bytes("0"));
    store.resetCounts();
    CachedStateRows rows = new CachedStateRows(store, 1 << 20);
    for (int i = 1; i <= 1000; i++) {
      int next = Integer.parseInt(text(rows.get(bytes("p"), bytes("a")))) + 1;
      rows.put(bytes("p"), bytes("a"), bytes(Integer.toString(next)));
      rows.get(bytes("p"), bytes("absent"));
    }
    rows.flush();
    rows.flush();
    assertThat(text(store.rows.get(new ByteKey(bytes("p"))).get(new ByteKey(bytes("a")))),
        is("1000"));
    assertThat(store.gets.size(), is(2));
    assertThat(store.gets.values(), everyItem(is(1)));
    assertThat(store.writes.size(), is(1));
    assertThat(store.writes.values(), everyItem(is(1)));
  }

  @Test
  void aRowThatCameAndWentIsNotWritten() {
    CountingStateRows store = new CountingStateRows();
    CachedStateRows rows = new CachedStateRows(store, 1 << 20);
    rows.insert(bytes("p"), bytes("a"), bytes("1"));
    rows.remove(bytes("p"), bytes("a"));
    rows.flush();
    assertThat(store.writes, anEmptyMap());
  }

  @Test
  void aScannedPrefixIsKnownWithoutTheStore() {
    CountingStateRows store = new CountingStateRows();
    store.put(bytes("p"), bytes("a"), bytes("1"));
    store.resetCounts();
    CachedStateRows rows = new CachedStateRows(store, 1 << 20);
    rows.put(bytes("p"), bytes("b"), bytes("2"));
    assertThat(scan(rows, "p"), equalTo(Map.of("a", "1", "b", "2")));
    rows.remove(bytes("p"), bytes("a"));
    rows.get(bytes("p"), bytes("c"));
    assertThat(scan(rows, "p"), equalTo(Map.of("b", "2")));
    assertThat(store.scans.values(), everyItem(is(1)));
    assertThat(store.gets, anEmptyMap());
  }

  @Test
  void memoryStaysBelowTheLimitAfterEveryCall() {
    CountingStateRows store = new CountingStateRows();
    CachedStateRows rows = new CachedStateRows(store, 50_000);
    for (int i = 0; i < 10_000; i++) {
      rows.put(bytes("p" + i % 100), bytes("s" + i), bytes("v".repeat(i % 50)));
      assertThat(rows.cachedBytes(), lessThan(50_001L));
    }
    rows.flush();
    assertThat(store.size(), is(10_000));
    assertThat(store.writes.values(), everyItem(is(1)));
  }
}
