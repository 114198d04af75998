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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.lessThan;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The limits of an epoch and how splits share them. */
class ReadBudgetTest {
  @Test
  void theSharesOfAnEpochSumUpToTheLimit() {
    for (long limit : new long[] {1, 3, 4, 7, 100, Long.MAX_VALUE}) {
      for (int splits = 1; splits < 9; splits++) {
        for (long epoch : new long[] {0, 1, 2, 17, Long.MAX_VALUE}) {
          long sum = 0;
          for (int split = 0; split < splits; split++) {
            sum += ReadBudget.share(limit, split, splits, epoch);
          }
          assertEquals(limit, sum, limit + " over " + splits + " splits in epoch " + epoch);
        }
      }
    }
  }

  @Test
  void everySplitHasItsTurnWhenTheLimitIsSmallerThanTheNumberOfSplits() {
    for (int limit = 1; limit < 4; limit++) {
      for (int split = 0; split < 4; split++) {
        for (long first = 0; first < 20; first++) {
          long sum = 0;
          int turns = (4 + limit - 1) / limit;
          for (long epoch = first; epoch < first + turns; epoch++) {
            sum += ReadBudget.share(limit, split, 4, epoch);
          }
          assertThat("limit " + limit + ", split " + split, sum, greaterThan(0L));
        }
      }
    }
  }

  @Test
  void recordsAreGivenUpToTheShare() {
    ReadBudget budget = ReadBudget.of(new ReadLimits(5, 0), 0, 2, 0, 1);

    assertTrue(budget.take());
    assertTrue(budget.take());
    assertTrue(budget.take());
    assertFalse(budget.take());
  }

  @Test
  void withoutLimitsThereIsAlwaysMore() {
    ReadBudget budget = ReadBudget.of(new ReadLimits(0, -1), 0, 1, 0, 1);

    for (int record = 0; record < 10_000; record++) {
      assertTrue(budget.take());
    }
  }

  @Test
  void theTimeLimitEndsTheBatchAndAllowsOneRecordAtLeast() {
    ReadBudget budget = ReadBudget.of(new ReadLimits(0, 20), 0, 1, 0, 1);
    long start = System.nanoTime();
    long records = 0;
    while (budget.take()) {
      records++;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);

    assertThat(records, greaterThan(1L));
    assertThat(millis, greaterThan(19L));
  }

  @Test
  void slowRecordsAreTimedOneByOne() throws InterruptedException {
    ReadBudget budget = ReadBudget.of(new ReadLimits(0, 20), 0, 1, 0, 1);
    CountDownLatch never = new CountDownLatch(1);
    int records = 0;
    while (budget.take()) {
      records++;
      assertThat(never.await(5, TimeUnit.MILLISECONDS), equalTo(false));
    }

    assertThat(records, lessThan(6));
  }
}
