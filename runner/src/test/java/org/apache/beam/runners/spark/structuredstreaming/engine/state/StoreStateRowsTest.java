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
import static org.hamcrest.Matchers.aMapWithSize;
import static org.hamcrest.Matchers.anEmptyMap;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.nullValue;
import static org.hamcrest.Matchers.startsWith;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStoreFixture.StoreKind;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreCoordinatorRef;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shows that rows in both of Spark's stores are kept, dropped and read again as promised. */
class StoreStateRowsTest {
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
  void rowsOfManySizesAreWhatWasWrittenAfterCommitAndAfterRestart(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    StoreStateRows rows = fixture.openRows();
    for (int i = 0; i < 200; i++) {
      rows.put(bytes("p" + i % 3), bytes("s".repeat(i)), bytes("v".repeat(i * 7 % 301)));
    }
    checkRowsOfManySizes(rows);
    fixture.commitRows();
    checkRowsOfManySizes(fixture.openRows());
    fixture.abort();
    fixture.restart();
    checkRowsOfManySizes(fixture.openRows());
    fixture.abort();
  }

  private static void checkRowsOfManySizes(StoreStateRows rows) {
    for (int i = 0; i < 200; i++) {
      byte[] value = rows.get(bytes("p" + i % 3), bytes("s".repeat(i)));
      assertThat(text(value), equalTo("v".repeat(i * 7 % 301)));
    }
    assertThat(scan(rows, "p0"), aMapWithSize(67));
    assertThat(scan(rows, "p1").get("ssss"), equalTo("v".repeat(28)));
    assertThat(scan(rows, "p"), anEmptyMap());
  }

  @ParameterizedTest
  @EnumSource
  void returnedBytesStayWhatTheyWereWhenTheRowChanges(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    StoreStateRows rows = fixture.openRows();
    rows.put(bytes("p"), bytes("a"), bytes("1"));
    byte[] before = rows.get(bytes("p"), bytes("a"));
    List<StateRow> scanned = new ArrayList<>();
    rows.scan(bytes("p")).forEachRemaining(scanned::add);
    rows.put(bytes("p"), bytes("a"), bytes("2"));
    rows.get(bytes("p"), bytes("a"));
    rows.remove(bytes("p"), bytes("a"));
    assertThat(text(before), is("1"));
    assertThat(text(scanned.get(0).value()), is("1"));
    assertThat(rows.get(bytes("p"), bytes("a")), nullValue());
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void rowsMayBeRemovedWhileTheirPrefixIsScanned(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    StoreStateRows rows = fixture.openRows();
    for (int i = 0; i < 50; i++) {
      rows.put(bytes("p"), bytes("s" + i), bytes("v"));
    }
    rows.forEach(bytes("p"), row -> rows.remove(bytes("p"), row.suffix()));
    assertThat(scan(rows, "p"), anEmptyMap());
    fixture.commitRows();
    assertThat(fixture.storedRows(), equalTo(List.of()));
  }

  @ParameterizedTest
  @EnumSource
  void anAbortDropsAllAndMayBeRepeated(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    fixture.openRows().put(bytes("p"), bytes("a"), bytes("1"));
    fixture.commitRows();
    StoreStateRows rows = fixture.openRows();
    rows.put(bytes("p"), bytes("a"), bytes("2"));
    rows.abort();
    rows.abort();
    assertThat(scan(fixture.openRows(), "p"), equalTo(Map.of("a", "1")));
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void afterACommitThatFailedTheEpochIsAbortedAndRunsAgain(StoreKind kind) throws IOException {
    StateStoreFixture fixture = new StateStoreFixture(kind, directory);
    fixture.openRows().put(bytes("p"), bytes("a"), bytes("1"));
    fixture.commitRows();
    StoreStateRows rows = fixture.openRows();
    rows.put(bytes("p"), bytes("a"), bytes("lost"));
    // The directory the next version is to appear in is gone while the commit runs.
    Path partition = directory.resolve("state/1/0");
    Path aside = Files.move(partition, directory.resolve("aside"));
    Files.createFile(partition);
    assertThrows(Exception.class, rows::commit);
    rows.abort();
    Files.delete(partition);
    Files.move(aside, partition);
    StoreStateRows again = fixture.openRows();
    assertThat(scan(again, "p"), equalTo(Map.of("a", "1")));
    again.put(bytes("p"), bytes("a"), bytes("2"));
    fixture.commitRows();
    fixture.restart();
    assertThat(scan(fixture.openRows(), "p"), equalTo(Map.of("a", "2")));
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void anAbortAfterTheCommitChangesNothing(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    StoreStateRows rows = fixture.openRows();
    rows.put(bytes("p"), bytes("a"), bytes("1"));
    fixture.commitRows();
    rows.abort();
    assertThat(fixture.storedRows().size(), is(1));
  }

  @ParameterizedTest
  @EnumSource
  void aReRunEpochStartsFromTheSameVersionAndMayStoreItAgain(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    StoreStateRows first = fixture.openRows();
    first.put(bytes("p"), bytes("a"), bytes("1"));
    first.commit();
    StoreStateRows second = fixture.openRows();
    assertThat(second.get(bytes("p"), bytes("a")), nullValue());
    second.put(bytes("p"), bytes("b"), bytes("2"));
    fixture.commitRows();
    fixture.restart();
    assertThat(scan(fixture.openRows(), "p"), equalTo(Map.of("b", "2")));
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void useAfterTheCommitIsAnErrorThatNamesTheStore(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    StoreStateRows rows = fixture.openRows();
    fixture.commitRows();
    IllegalStateException error =
        assertThrows(IllegalStateException.class, () -> rows.get(bytes("p"), bytes("a")));
    assertThat(error.getMessage(), containsString("operatorId=1"));
    assertThat(error.getMessage(), containsString("version 0: used after its commit or abort"));
  }

  @ParameterizedTest
  @EnumSource
  void aTaskThatFailsLeavesNothingToTheNextOneOfTheSameVersion(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    fixture.openRows().put(bytes("p"), bytes("a"), bytes("1"));
    fixture.commitRows();
    StateStoreProviderId id = fixture.id();
    StateStoreConf conf = StateStoreFixture.conf(provider);
    JavaSparkContext spark = new JavaSparkContext(SparkSession.active().sparkContext());
    SparkException failure =
        assertThrows(
            SparkException.class,
            () ->
                spark
                    .parallelize(List.of(1), 1)
                    .foreach(
                        element -> {
                          StoreStateRows rows =
                              new StoreStateRows(
                                  StateStores.open(id, 1, conf, new Configuration()));
                          rows.put(bytes("p"), bytes("lost"), bytes("2"));
                          throw new IllegalStateException("fails on purpose");
                        }));
    assertThat(failure.getMessage(), containsString("fails on purpose"));
    assertThat(scan(fixture.openRows(), "p"), equalTo(Map.of("a", "1")));
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void theCoordinatorKnowsWhereAStoreWasOpened(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    StateStoreCoordinatorRef coordinator = StateStores.coordinator();
    assertThat(
        StateStores.preferredLocation(coordinator, fixture.id()), equalTo(Optional.empty()));
    fixture.openRows();
    fixture.abort();
    assertThat(
        StateStores.preferredLocation(coordinator, fixture.id()).orElseThrow(),
        startsWith("executor_"));
  }

  /** What is too large for one row is found again by every way of reading, and leaves nothing behind. */
  @ParameterizedTest
  @EnumSource
  void largeKeysAndValuesAreWhatWasWrittenAndLeaveNothing(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    String key = "k".repeat(LargeRows.KEY_BYTES + 1);
    String otherKey = "k".repeat(LargeRows.KEY_BYTES) + "o";
    String value = "v".repeat(2 * LargeRows.PART_BYTES - 3);
    StoreStateRows rows = fixture.openRows();
    for (String prefix : List.of("p", key)) {
      rows.put(bytes(prefix), bytes(key), bytes("1"));
      rows.insert(bytes(prefix), bytes(otherKey), bytes(value));
      rows.put(bytes(prefix), bytes("s"), bytes(value + "2"));
      rows.put(bytes(prefix), bytes("t"), bytes("3"));
    }
    fixture.commitRows();
    fixture.restart();
    Map<String, String> expected =
        new HashMap<>(Map.of(key, "1", otherKey, value, "s", value + "2", "t", "3"));
    StoreStateRows again = fixture.openRows();
    for (String prefix : List.of("p", key)) {
      assertThat(text(again.get(bytes(prefix), bytes(otherKey))), equalTo(value));
      assertThat(scan(again, prefix), equalTo(expected));
    }
    assertThat(again.get(bytes("p"), bytes(key + "k")), nullValue());
    // Large becomes small and small large, a large one is replaced by a shorter one or goes.
    again.put(bytes("p"), bytes(otherKey), bytes("4"));
    again.put(bytes("p"), bytes("s"), bytes("5"));
    again.put(bytes("p"), bytes("t"), bytes(value));
    again.put(bytes(key), bytes("s"), bytes("w".repeat(LargeRows.PART_BYTES + 1)));
    again.remove(bytes(key), bytes(key));
    fixture.commitRows();
    StoreStateRows last = fixture.openRows();
    expected.putAll(Map.of(otherKey, "4", "s", "5", "t", value));
    assertThat(scan(last, "p"), equalTo(expected));
    assertThat(
        text(last.get(bytes(key), bytes("s"))), equalTo("w".repeat(LargeRows.PART_BYTES + 1)));
    for (String prefix : List.of("p", key)) {
      last.drain(bytes(prefix)).forEachRemaining(row -> {});
      assertThat(scan(last, prefix), anEmptyMap());
    }
    fixture.commitRows();
    // One row is left: that there is no large one.
    assertThat(fixture.storedRows().toString(), fixture.storedRows().size(), is(1));
  }

  static Map<String, String> scan(StateRows rows, String prefix) {
    Map<String, String> found = new HashMap<>();
    rows.forEach(bytes(prefix), row -> found.put(text(row.suffix()), text(row.value())));
    return found;
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
