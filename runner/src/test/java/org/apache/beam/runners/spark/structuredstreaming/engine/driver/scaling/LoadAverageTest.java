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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling.LoadAverage.Load;
import org.junit.jupiter.api.Test;

/** The load of intervals. */
class LoadAverageTest {
  private static final long START = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(2);

  /** Nanoseconds of a clock that passes its greatest number meanwhile, as System.nanoTime() may. */
  private static long at(long millis) {
    return START + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  @Test
  void itIsTheMeanProcessingTimeOverTheTriggerInterval() {
    LoadAverage average = new LoadAverage(3000, 1000, START);
    assertThat(average.epochEnded(200, at(1000)), is(Optional.empty()));
    assertThat(average.epochEnded(900, at(2999)), is(Optional.empty()));
    assertThat(average.epochEnded(1600, at(3000)), is(Optional.of(new Load(0.9, 900, 3))));
  }

  @Test
  void anIntervalKnowsNothingOfTheOneBefore() {
    LoadAverage average = new LoadAverage(3000, 2000, START);
    assertThat(average.epochEnded(4000, at(3500)), is(Optional.of(new Load(2, 4000, 1))));
    assertThat(average.epochEnded(100, at(6499)), is(Optional.empty()));
    assertThat(average.epochEnded(300, at(6500)), is(Optional.of(new Load(0.1, 200, 2))));
  }

  /** An epoch that is longer than the interval is one that says enough. */
  @Test
  void aLongEpochEndsItsInterval() {
    LoadAverage average = new LoadAverage(1000, 1000, START);
    assertThat(average.epochEnded(60_000, at(60_000)), is(Optional.of(new Load(60, 60_000, 1))));
    assertThat(average.epochEnded(10, at(60_010)), is(Optional.empty()));
  }
}
