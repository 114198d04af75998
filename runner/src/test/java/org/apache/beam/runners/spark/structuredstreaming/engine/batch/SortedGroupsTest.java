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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Groups come whole and apart from each other, whatever their hashes are and however many spill. */
class SortedGroupsTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  private static final int RECORDS = 10_000;
  private static final int GROUPS = 100;

  /** What a task of Spark's does with a sorter. */
  private interface InTask<T> extends Function<Integer, T>, Serializable {}

  private static <T> T inTask(InTask<T> work) {
    return JavaSparkContext.fromSparkContext(SPARK.session().sparkContext())
        .parallelize(List.of(0), 1)
        .map(work)
        .collect()
        .get(0);
  }

  private static ByteOutput bytes(String text) {
    ByteOutput out = new ByteOutput(16);
    out.write(text.getBytes(StandardCharsets.UTF_8));
    return out;
  }

  private static String text(ByteInput input) throws IOException {
    return new String(input.readBytes(input.available()), StandardCharsets.UTF_8);
  }

  /** Every record by the group it came in; fails if a group comes twice. */
  private static Map<String, List<String>> sorted(GroupSorter sorter) throws IOException {
    Map<String, List<String>> found = new TreeMap<>();
    SortedGroups groups = sorter.sorted();
    while (groups.nextGroup()) {
      List<String> values = new ArrayList<>();
      String group =
          groups.root() + ":" + new String(groups.identity(), StandardCharsets.UTF_8);
      while (groups.nextRecord()) {
        values.add(text(groups.body()));
      }
      if (found.put(group, values) != null) {
        throw new IllegalStateException("The group " + group + " came twice");
      }
    }
    return found;
  }

  private static Map<String, List<String>> expected() {
    Map<String, List<String>> expected = new TreeMap<>();
    for (int i = 0; i < RECORDS; i++) {
      expected
          .computeIfAbsent(i % 2 + ":key " + i % GROUPS, group -> new ArrayList<>())
          .add("value " + i);
    }
    return expected;
  }

  private static void insertAll(GroupSorter sorter) throws IOException {
    for (int i = 0; i < RECORDS; i++) {
      sorter.insert(i % 2, bytes("key " + i % GROUPS), bytes("value " + i));
    }
  }

  @Test
  void recordsComeByGroupInTheOrderOfTheirInsertion() {
    Map<String, List<String>> found =
        inTask(
            number -> {
              GroupSorter sorter = new GroupSorter(TaskContext.get());
              insertAll(sorter);
              return sorted(sorter);
            });
    assertThat(found, is(expected()));
  }

  @Test
  void groupsOfOneHashAreKeptApart() {
    Map<String, List<String>> found =
        inTask(
            number -> {
              GroupSorter sorter =
                  new GroupSorter(
                      TaskContext.get(), (root, identity, length) -> identity[length - 1] % 3);
              insertAll(sorter);
              return sorted(sorter);
            });
    assertThat(found, is(expected()));
  }

  @Test
  void noRecordIsLostWhenTheSorterSpills() {
    Map<String, List<String>> found =
        inTask(
            number -> {
              GroupSorter sorter = new GroupSorter(TaskContext.get());
              for (int i = 0; i < RECORDS; i++) {
                sorter.insert(i % 2, bytes("key " + i % GROUPS), bytes("value " + i));
                if (i % (RECORDS / 4) == 0) {
                  sorter.spill();
                }
              }
              if (TaskContext.get().taskMetrics().diskBytesSpilled() == 0) {
                throw new IllegalStateException("Nothing was spilled");
              }
              return sorted(sorter);
            });
    found.values().forEach(values -> values.sort(SortedGroupsTest::byNumber));
    assertThat(found, is(expected()));
  }

  private static int byNumber(String left, String right) {
    return Integer.compare(number(left), number(right));
  }

  private static int number(String value) {
    return Integer.parseInt(value.substring(value.indexOf(' ') + 1));
  }

  @Test
  void whatIsNotReadOfAGroupIsSkipped() {
    List<String> firsts =
        inTask(
            number -> {
              GroupSorter sorter = new GroupSorter(TaskContext.get());
              insertAll(sorter);
              SortedGroups groups = sorter.sorted();
              List<String> found = new ArrayList<>();
              while (groups.nextGroup()) {
                groups.nextRecord();
                found.add(text(groups.body()));
              }
              return found;
            });
    assertThat(firsts.size(), is(GROUPS));
  }

  @Test
  void aSorterWithoutRecordsHasNoGroups() {
    assertThat(
        inTask(
            number -> {
              try {
                return sorted(new GroupSorter(TaskContext.get()));
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            }),
        is(Map.of()));
  }

  /** One array of a table of more would be refused by a heap that has room enough, in pieces. */
  @Test
  void theTableOfRecordsIsASixteenthOfTheHeap() {
    assertThat(GroupSorter.mostRecords(2L << 30), is(4 << 20));
    assertThat(GroupSorter.mostRecords(160L << 20), is(327_680));
    assertThat(GroupSorter.mostRecords(1 << 20), is(4096));
    assertThat(GroupSorter.mostRecords(1L << 50), is(Integer.MAX_VALUE));
  }
}
