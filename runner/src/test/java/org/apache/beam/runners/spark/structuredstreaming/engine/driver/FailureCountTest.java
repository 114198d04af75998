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
import static org.hamcrest.Matchers.is;

import org.junit.jupiter.api.Test;

/** What counts as a failure in a row. */
class FailureCountTest {
  private final FailureCount count = new FailureCount(2, 200);

  private void assertFailed(long firstEpochWithRows, long committedEpoch, int failures) {
    count.failed(firstEpochWithRows, committedEpoch);
    assertThat(count.failures(), is(failures));
    assertThat(count.mayRestart(), is(failures <= 2));
  }

  @Test
  void epochsThatReadNothingAreNoProgress() {
    assertFailed(-1, 5, 1);
    assertFailed(-1, 6, 2);
    assertFailed(-1, 7, 3);
  }

  @Test
  void rowsOfAnEpochThatWasNotCommittedAreNoProgress() {
    assertFailed(6, 5, 1);
    assertFailed(6, 5, 2);
    assertFailed(6, 5, 3);
  }

  @Test
  void rowsOfACommittedEpochBeginTheCountAnew() {
    assertFailed(-1, -1, 1);
    assertFailed(-1, -1, 2);
    assertFailed(0, 0, 1);
    assertFailed(-1, 3, 2);
    assertFailed(4, 9, 1);
  }

  @Test
  void theWaitDoublesWithEveryFailureInARowUpToALimit() {
    for (int failures = 1; failures <= 40; failures++) {
      count.failed(-1, 0);
      assertThat(count.backoffMillis(), is(200L << Math.min(failures - 1, 10)));
    }
    count.failed(1, 1);
    assertThat(count.backoffMillis(), is(200L));
  }
}
