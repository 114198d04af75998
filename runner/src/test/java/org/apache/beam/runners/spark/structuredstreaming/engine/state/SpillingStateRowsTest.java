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
import static org.hamcrest.Matchers.anEmptyMap;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Shows that rows read the same from memory and from disk, and that nothing stays on disk. */
class SpillingStateRowsTest {
  private static final int PREFIXES = 5;
  private static final int SUFFIXES = 40;

  @BeforeAll
  static void startSpark() {
    StateStoreFixture.startSpark();
  }

  @AfterAll
  static void stopSpark() {
    StateStoreFixture.stopSpark();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(directories(), equalTo(Set.of()));
  }

  /** The directories of temporary state that there are. */
  private static Set<String> directories() {
    Set<String> found = new HashSet<>();
    for (File local : SparkEnv.get().blockManager().diskBlockManager().localDirs()) {
      File[] ofState = local.listFiles((directory, name) -> name.startsWith("beam-state-"));
      Arrays.stream(ofState).map(File::getPath).forEach(found::add);
    }
    return found;
  }

  /** Always on disk, now and then on disk, never on disk. */
  @ParameterizedTest
  @ValueSource(longs = {1, 20_000, 1 << 30})
  void randomChangesReadAsInAPlainMap(long limitBytes) {
    Map<String, Map<String, String>> model = new HashMap<>();
    Random random = new Random(limitBytes);
    try (SpillingStateRows rows = new SpillingStateRows(limitBytes)) {
      for (int change = 0; change < 20_000; change++) {
        String prefix = "p".repeat(1 + random.nextInt(PREFIXES));
        String suffix = "s".repeat(random.nextInt(SUFFIXES));
        Map<String, String> expected = model.computeIfAbsent(prefix, key -> new HashMap<>());
        change(rows, prefix, suffix, expected, random);
      }
      model.forEach((prefix, expected) -> assertThat(scan(rows, prefix), equalTo(expected)));
      assertThat(rows.isOnDisk(), is(limitBytes < 1 << 30));
      assertThat(directories().isEmpty(), is(limitBytes == 1 << 30));
    }
  }

  private static void change(
      StateRows rows, String prefix, String suffix, Map<String, String> expected, Random random) {
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> {
        // Some of a size that lies beside the keys.
        String value = "v".repeat(random.nextInt(20) == 0 ? 10_000 : random.nextInt(300));
        if (expected.containsKey(suffix) || random.nextBoolean()) {
          rows.put(bytes(prefix), bytes(suffix), bytes(value));
        } else {
          rows.insert(bytes(prefix), bytes(suffix), bytes(value));
        }
        expected.put(suffix, value);
      }
      case 3 -> {
        rows.remove(bytes(prefix), bytes(suffix));
        expected.remove(suffix);
      }
      case 4 -> {
        if (random.nextInt(20) == 0) {
          assertThat(scan(rows, prefix), equalTo(expected));
        }
      }
      case 5 -> {
        if (random.nextInt(50) == 0) {
          drainAndKeepOne(rows, prefix, expected);
        }
      }
      default -> {
        byte[] value = rows.get(bytes(prefix), bytes(suffix));
        assertThat(value == null ? null : text(value), equalTo(expected.get(suffix)));
      }
    }
  }

  /** Drains a prefix; the first row is written again as soon as it is drained. */
  private static void drainAndKeepOne(
      StateRows rows, String prefix, Map<String, String> expected) {
    Map<String, String> drained = new HashMap<>();
    String kept = null;
    for (Iterator<StateRow> each = rows.drain(bytes(prefix)); each.hasNext(); ) {
      StateRow row = each.next();
      drained.put(text(row.suffix()), text(row.value()));
      if (kept == null) {
        kept = text(row.suffix());
        rows.insert(bytes(prefix), row.suffix(), bytes("kept"));
      }
    }
    assertThat(drained, equalTo(expected));
    expected.clear();
    if (kept != null) {
      expected.put(kept, "kept");
    }
  }

  @Test
  void whatWasScannedStaysWhenRowsAreRemovedMeanwhile() {
    try (SpillingStateRows rows = new SpillingStateRows(1)) {
      for (int i = 0; i < 500; i++) {
        rows.put(bytes("p"), bytes("s" + i), bytes("v" + i));
      }
      Iterator<StateRow> all = rows.scan(bytes("p"));
      int found = 0;
      while (all.hasNext()) {
        StateRow row = all.next();
        rows.remove(bytes("p"), row.suffix());
        rows.put(bytes("p"), bytes("new" + found), bytes("v"));
        found++;
      }
      assertThat(found, is(500));
      assertThat(scan(rows, "p").keySet().stream().allMatch(key -> key.startsWith("new")), is(true));
    }
  }

  @Test
  void largeKeysAndValuesComeBackFromDisk() {
    byte[] value = new byte[40 << 20];
    new Random(1).nextBytes(value);
    byte[] suffix = Arrays.copyOf(value, 1 << 20);
    try (SpillingStateRows rows = new SpillingStateRows(1 << 20)) {
      rows.put(bytes("p"), suffix, value);
      rows.put(bytes("p"), bytes("small"), bytes("v"));
      assertThat(rows.isOnDisk(), is(true));
      assertThat(Arrays.equals(rows.get(bytes("p"), suffix), value), is(true));
      assertThat(text(rows.get(bytes("p"), bytes("small"))), is("v"));
    }
  }

  @Test
  void anUnfinishedScanDoesNotKeepTheFiles() {
    SpillingStateRows rows = new SpillingStateRows(1);
    rows.put(bytes("p"), bytes("a"), bytes("1"));
    rows.put(bytes("p"), bytes("b"), bytes("2"));
    Iterator<StateRow> drained = rows.drain(bytes("p"));
    drained.next();
    rows.close();
    rows.close();
    assertThrows(IllegalStateException.class, drained::hasNext);
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> rows.get(bytes("p"), bytes("c")));
    assertThat(refused.getMessage(), containsString("copy what is needed for longer"));
  }

  @Test
  void theEndOfTheTaskDeletesWhatItLeaves() {
    JavaSparkContext context = new JavaSparkContext(SparkSession.active().sparkContext());
    List<Integer> found =
        context
            .parallelize(List.of(1), 1)
            .map(
                number -> {
                  SpillingStateRows rows = new SpillingStateRows(1);
                  rows.put(bytes("p"), bytes("a"), bytes("1"));
                  return directories().size();
                })
            .collect();
    assertThat(found, equalTo(List.of(1)));
  }

  @Test
  void rowsInMemoryOutliveTheirEnd() {
    SpillingStateRows rows = new SpillingStateRows(1 << 20);
    rows.put(bytes("p"), bytes("a"), bytes("1"));
    rows.close();
    assertThat(text(rows.get(bytes("p"), bytes("a"))), is("1"));
    assertThat(scan(rows, "p"), not(anEmptyMap()));
  }

  @Test
  void theLimitFollowsTheHeap() {
    assertThat(StateMemory.limitBytes(64L << 20), is(4L << 20));
    assertThat(StateMemory.limitBytes(512L << 20), is(16L << 20));
    assertThat(StateMemory.limitBytes(64L << 30), is(64L << 20));
  }

  private static Map<String, String> scan(StateRows rows, String prefix) {
    Map<String, String> found = new HashMap<>();
    rows.scan(bytes(prefix))
        .forEachRemaining(row -> found.put(text(row.suffix()), text(row.value())));
    return found;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
