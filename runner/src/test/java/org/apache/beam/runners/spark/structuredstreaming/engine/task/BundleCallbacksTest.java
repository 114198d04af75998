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
package org.apache.beam.runners.spark.structuredstreaming.engine.task;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.BundleCallback;
import org.junit.jupiter.api.Test;

/** Which callbacks of bundles run, and when. */
class BundleCallbacksTest {
  private static final long NOW = 1000;

  private final BundleCallbacks callbacks = new BundleCallbacks();
  private final List<String> called = new ArrayList<>();

  private static TaskAddress task(long epoch, int level, int partition) {
    return new TaskAddress(epoch, level, partition, new UUID(0, 0), 0, false);
  }

  /** The task attempts with these ids were used. */
  private void committed(long epoch, long... attempts) {
    callbacks.committed(
        epoch, LongStream.of(attempts).boxed().collect(Collectors.toSet()), NOW);
  }

  private BundleCallback callback(String name) {
    return callback(name, NOW + 1);
  }

  private BundleCallback callback(String name, long expiryMillis) {
    return new BundleCallback("Step", expiryMillis, () -> called.add(name));
  }

  @Test
  void runOnceInTheOrderOfEpochsLevelsAndPartitions() {
    callbacks.add(task(4, 0, 0), 14, List.of(callback("4 0 0")));
    callbacks.add(task(3, 1, 0), 13, List.of(callback("3 1 0")));
    callbacks.add(task(3, 0, 1), 12, List.of(callback("3 0 1 first"), callback("3 0 1 second")));
    callbacks.add(task(3, 0, 0), 11, List.of(callback("3 0 0")));
    committed(4, 11, 12, 13, 14);
    committed(5, 11, 12, 13, 14);
    assertThat(
        called, is(List.of("3 0 0", "3 0 1 first", "3 0 1 second", "3 1 0", "4 0 0")));
  }

  @Test
  void waitForTheCommitOfTheirEpoch() {
    callbacks.add(task(3, 0, 0), 11, List.of(callback("3")));
    callbacks.add(task(4, 0, 0), 12, List.of(callback("4")));
    committed(2, 11, 12);
    assertThat(called, empty());
    committed(3, 11, 12);
    assertThat(called, is(List.of("3")));
  }

  @Test
  void ofATaskThatRanTwiceThoseOfTheAttemptThatWasUsedCount() {
    callbacks.add(task(3, 0, 0), 11, List.of(callback("first")));
    callbacks.add(task(3, 0, 0), 13, List.of(callback("second")));
    callbacks.add(task(3, 0, 1), 12, List.of(callback("ran again elsewhere")));
    committed(3, 13, 14);
    assertThat(called, is(List.of("second")));
  }

  @Test
  void oneThatHasExpiredIsDropped() {
    callbacks.add(task(3, 0, 0), 11, List.of(callback("expired", NOW), callback("in time")));
    committed(3, 11);
    assertThat(called, is(List.of("in time")));
  }

  @Test
  void oneThatFailsDoesNotKeepTheOthersFromRunning() {
    BundleCallback failing =
        new BundleCallback(
            "Step",
            NOW + 1,
            () -> {
              throw new IllegalStateException("the callback's own failure");
            });
    callbacks.add(task(3, 0, 0), 11, List.of(failing, callback("next")));
    committed(3, 11);
    assertThat(called, is(List.of("next")));
  }
}
