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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.closeTo;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Epochs whose length follows from what is read, by one rule after the other. */
class ReadPaceTest {
  private static final long WANTED_MILLIS = 1_000;
  private static final double WANTED = TimeUnit.MILLISECONDS.toNanos(WANTED_MILLIS);

  private static ReadPace pace() {
    return new ReadPace(WANTED_MILLIS, 2);
  }

  /** The work of an epoch behind others, which takes this many times as long as it reads. */
  private static double workAfter(int epochs, double costOfReading) {
    ReadPace pace = pace();
    double nanos = 0;
    for (int epoch = 0; epoch < epochs; epoch++) {
      double read = pace.share() * WANTED;
      nanos = costOfReading * read;
      pace.epochTook(read, nanos);
    }
    return nanos;
  }

  @ParameterizedTest
  @ValueSource(doubles = {1.5, 10, 100, 10_000})
  void epochsComeToTheLengthThatIsWantedWhateverReadingCosts(double costOfReading) {
    assertThat(workAfter(12, costOfReading), is(closeTo(WANTED, 0.01 * WANTED)));
  }

  @Test
  void whereReadingIsAllTheWorkSplitsReadForTheWholeTime() {
    ReadPace pace = pace();
    for (int epoch = 0; epoch < 6; epoch++) {
      pace.epochTook(pace.share() * WANTED, pace.share() * WANTED);
    }
    assertThat(pace.share(), is(1.0));
  }

  @Test
  void epochsThatDoNotReadForAsLongAsTheyMayChangeNothing() {
    ReadPace pace = pace();
    double first = pace.share();
    pace.epochTook(0, 0);
    pace.epochTook(first * WANTED / 2, 100 * WANTED);
    assertThat(pace.share(), is(first));
    pace.epochTook(first * WANTED, first * WANTED);
    assertThat(pace.share(), greaterThan(first));
  }

  @Test
  void aSplitReadsSomethingHoweverLongEpochsWork() {
    ReadPace pace = pace();
    for (int epoch = 0; epoch < 20; epoch++) {
      pace.epochTook(WANTED, 1e6 * WANTED);
    }
    assertThat(pace.share(), is(1e-6));
  }
}
