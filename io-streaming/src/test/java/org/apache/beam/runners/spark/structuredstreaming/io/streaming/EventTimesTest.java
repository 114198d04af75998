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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.junit.jupiter.api.Test;

/** Statistics of event times. */
class EventTimesTest {
  @Test
  void extremesAndAverageAreThoseOfWhatWasAdded() {
    EventTimes times = new EventTimes();
    times.add(1_700_000_000_003L);
    times.add(1_700_000_000_001L);
    times.add(1_700_000_000_005L);

    assertEquals(3, times.count());
    assertEquals(1_700_000_000_001L, times.minMillis());
    assertEquals(1_700_000_000_005L, times.maxMillis());
    assertEquals(1_700_000_000_003L, times.averageMillis());
  }

  @Test
  void theAverageOfManyRecordsAtTheEndsOfTimeDoesNotOverflow() {
    long beginning = BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis();
    EventTimes times = new EventTimes();
    for (int record = 0; record < 100_000; record++) {
      times.add(beginning);
    }

    assertEquals(beginning, times.averageMillis());
  }

  @Test
  void withoutRecordsTheExtremesAreNeutral() {
    EventTimes times = new EventTimes();

    assertEquals(Long.MAX_VALUE, times.minMillis());
    assertEquals(Long.MIN_VALUE, times.maxMillis());
    assertEquals(0, times.averageMillis());
  }
}
