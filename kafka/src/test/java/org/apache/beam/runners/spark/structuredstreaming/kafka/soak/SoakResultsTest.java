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
package org.apache.beam.runners.spark.structuredstreaming.kafka.soak;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The soak finds what is lost, doubled or wrong, and the fault that it came behind. */
class SoakResultsTest {
  private static final int RECORDS = 40;
  private static final long START_MILLIS = 1_000_000;
  private static final long APART_MILLIS = 1_000;
  private static final long FAULT_MILLIS = START_MILLIS + 20 * APART_MILLIS;

  /** Behind the fault. */
  private static final int BEHIND = 30;

  private final List<SoakProducer.Sent> sent = new ArrayList<>();
  private final Map<String, List<Long>> counts = new HashMap<>();
  private SoakResults results;

  /** Two keys, a record a second, a fault in the middle, and counts as they should be. */
  @BeforeEach
  void produceAndCount() {
    Map<String, Long> windows = new HashMap<>();
    for (int number = 0; number < RECORDS; number++) {
      SoakProducer.Sent record =
          new SoakProducer.Sent(
              Integer.toString(number), "k" + number % 2, START_MILLIS + number * APART_MILLIS);
      sent.add(record);
      counts.put(SoakPipeline.ID + number, List.of(1L));
      windows.merge(windowOf(record), 1L, Long::sum);
    }
    windows.forEach((window, count) -> counts.put(window, List.of(count)));
    results =
        new SoakResults(sent, List.of(new SoakFault(SoakFault.Kind.DRIVER, FAULT_MILLIS, 7_000)));
  }

  private static String windowOf(SoakProducer.Sent record) {
    long size = SoakPipeline.WINDOW_SIZE.getMillis();
    return SoakPipeline.windowKey(
        record.timestampMillis() - record.timestampMillis() % size, record.key());
  }

  private void assertFinds(String ofNoneBefore, String ofDriver) {
    assertThat(results.check(counts), is(false));
    assertThat(results.table(), containsString("| none before | 0 | 0.0 | 20 | " + ofNoneBefore + " |"));
    assertThat(results.table(), containsString("| driver | 1 | 7.0 | 20 | " + ofDriver + " |"));
  }

  @Test
  void whatIsExactIsFoundExact() {
    assertThat(results.isComplete(counts), is(true));
    assertThat(results.check(counts), is(true));
    assertThat(results.table(), containsString("| none before | 0 | 0.0 | 20 | 0 | 0 | 0 |"));
    assertThat(results.table(), containsString("| driver | 1 | 7.0 | 20 | 0 | 0 | 0 |"));
  }

  @Test
  void aRecordThatIsNotCountedIsLost() {
    counts.remove(SoakPipeline.ID + BEHIND);
    assertThat(results.isComplete(counts), is(false));
    assertFinds("0 | 0 | 0", "0 | 1 | 0");
  }

  @Test
  void aRecordThatIsCountedTwiceIsDoubled() {
    counts.put(SoakPipeline.ID + BEHIND, List.of(1L, 2L));
    assertThat(results.isComplete(counts), is(true));
    assertFinds("0 | 0 | 0", "0 | 0 | 1");
  }

  @Test
  void aCountThatIsWrittenTwiceIsDoubled() {
    counts.put(SoakPipeline.ID + 3, List.of(1L, 1L));
    assertFinds("0 | 0 | 1", "0 | 0 | 0");
  }

  @Test
  void aWindowWithTooFewIsWrong() {
    String window = windowOf(sent.get(BEHIND));
    counts.put(window, List.of(counts.get(window).get(0) - 1));
    assertThat(results.isComplete(counts), is(false));
    assertFinds("0 | 0 | 0", "1 | 0 | 0");
  }

  @Test
  void aWindowWithTooManyIsWrong() {
    String window = windowOf(sent.get(BEHIND));
    counts.put(window, List.of(counts.get(window).get(0), 1L));
    assertThat(results.isComplete(counts), is(true));
    assertFinds("0 | 0 | 0", "1 | 0 | 0");
  }

  @Test
  void aWindowAndAnIdThatNobodyHasProducedAreWrong() {
    counts.put(SoakPipeline.windowKey(FAULT_MILLIS, "of nobody"), List.of(1L));
    counts.put(SoakPipeline.ID + RECORDS, List.of(1L));
    assertFinds("1 | 0 | 0", "1 | 0 | 0");
  }
}
