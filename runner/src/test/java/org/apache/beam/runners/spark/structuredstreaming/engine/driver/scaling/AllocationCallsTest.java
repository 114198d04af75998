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
import java.util.concurrent.CountDownLatch;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A cluster manager that does not answer, fails, and answers again. */
@Timeout(60)
class AllocationCallsTest {
  private static final long PATIENCE_MILLIS = 50;
  private static final long LONG_PATIENCE_MILLIS = 50_000;

  @Test
  void whatIsNotAnsweredIsNotWaitedForAndNothingElseIsAskedMeanwhile() throws InterruptedException {
    AllocationCalls calls = new AllocationCalls("asking", PATIENCE_MILLIS);
    CountDownLatch open = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    Optional<Boolean> unanswered =
        calls.ask(
            "the first",
            () -> {
              open.await();
              left.countDown();
              return true;
            });
    assertThat(unanswered, is(Optional.empty()));
    Optional<Boolean> unasked =
        calls.ask(
            "the second",
            () -> {
              throw new AssertionError("asked while the first has no answer");
            });
    assertThat(unasked, is(Optional.empty()));
    open.countDown();
    left.await();
    Await.until("an answer again", () -> answered(calls), () -> "none");
  }

  private static boolean answered(AllocationCalls calls) {
    try {
      return calls.ask("anything", () -> true).isPresent();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aCallThatFailsIsNoFailureOfThePipeline() throws InterruptedException {
    AllocationCalls calls = new AllocationCalls("asking", LONG_PATIENCE_MILLIS);
    Optional<Boolean> failed =
        calls.ask(
            "what fails",
            () -> {
              throw new IllegalStateException("fails on purpose");
            });
    assertThat(failed, is(Optional.empty()));
    assertThat(calls.ask("the next", () -> 1), is(Optional.of(1)));
  }
}
