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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Epochs whose length follows from what is read, by one rule after the other. */
class ReadPaceTest {
  private static final long WANTED = 1_000;
  private static final double FIXED_MILLIS = 50;

  /** Epochs whose length is a fixed cost and this many times what is read. */
  private static double lengthAfter(int epochs, double costOfReading) {
    ReadPace pace = new ReadPace(WANTED);
    double millis = 0;
    for (int epoch = 0; epoch < epochs; epoch++) {
      millis = FIXED_MILLIS + costOfReading * pace.share() * WANTED;
      pace.epochTook(millis, 1);
    }
    return millis;
  }

  @ParameterizedTest
  @ValueSource(doubles = {1.5, 10, 100, 10_000})
  void epochsComeToTheLengthThatIsWantedWhateverReadingCosts(double costOfReading) {
    assertThat(lengthAfter(12, costOfReading), is(closeTo(WANTED, 0.2 * WANTED)));
  }

  @Test
  void whereReadingIsAllTheWorkSplitsReadForTheWholeTime() {
    ReadPace pace = new ReadPace(WANTED);
    for (int epoch = 0; epoch < 6; epoch++) {
      pace.epochTook(Math.max(FIXED_MILLIS, pace.share() * WANTED), 1);
    }
    assertThat(pace.share(), is(1.0));
  }

  @Test
  void epochsThatReadLittleChangeNothing() {
    ReadPace pace = new ReadPace(WANTED);
    for (int epoch = 0; epoch < 6; epoch++) {
      pace.epochTook(FIXED_MILLIS, 0);
    }
    double first = pace.share();
    pace.epochTook(first * WANTED / 2, 1);
    assertThat(pace.share(), is(first));
    pace.epochTook(first * WANTED, 1);
    assertThat(pace.share(), greaterThan(first));
  }

  @Test
  void aSplitReadsSomethingHoweverLongEpochsTake() {
    ReadPace pace = new ReadPace(WANTED);
    for (int epoch = 0; epoch < 20; epoch++) {
      pace.epochTook(1e9, 1);
    }
    assertThat(pace.share(), is(1e-6));
  }
}
