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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a load asks for. */
class ScalingPolicyTest {
  private static final ScalingPolicy POLICY = new ScalingPolicy(0.9, 0.3, 2, 6);

  @ParameterizedTest
  @CsvSource({
    // Between the two ratios nothing happens.
    "0.31, 4, 0",
    "0.899, 4, 0",
    // At the upper one and above it: the load, rounded, and at least one.
    "0.9, 3, 1",
    "1.49, 3, 1",
    "1.5, 3, 2",
    "2.6, 3, 3",
    // Never beyond the most.
    "2.6, 4, 2",
    "1e18, 4, 2",
    "1e18, 6, 0",
    "0.9, 6, 0",
    // At the lower one and below it: one, and none of the fewest.
    "0.3, 4, -1",
    "0, 3, -1",
    "0.3, 2, 0",
    "0, 2, 0",
    // Too few and too many are put right whatever the load is.
    "0, 0, 2",
    "0.5, 1, 1",
    "5, 1, 1",
    "0.5, 7, -1",
    "5, 9, -1"
  })
  void aLoadAsksFor(double load, int executors, int change) {
    assertThat(POLICY.change(load, executors), is(change));
  }

  /** With the default ratios no release by itself brings about the request that would undo it. */
  @Test
  void aReleaseIsNotUndoneByTheLoadThatItLeavesToTheOthers() {
    ScalingPolicy defaults = new ScalingPolicy(0.9, 0.3, 1, Integer.MAX_VALUE);
    for (int executors = 2; executors < 100; executors++) {
      for (int percent = 0; percent <= 100; percent++) {
        double load = percent / 100.0;
        if (defaults.change(load, executors) < 0) {
          double ofOthers = load * executors / (executors - 1);
          assertThat(load + " on " + executors, defaults.change(ofOthers, executors - 1) > 0, is(false));
        }
      }
    }
  }
}
