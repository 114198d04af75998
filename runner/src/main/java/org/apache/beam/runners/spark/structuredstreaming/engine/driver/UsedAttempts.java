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

import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.TaskReport;

/**
 * The task attempts of one query start that have asked for callbacks and whose output was used, of the
 * last epochs: what tells executors which callbacks are those of committed bundles. Told by the query's
 * thread, asked by any.
 */
final class UsedAttempts {
  /** For how many epochs an executor may have no task, before its callbacks are given up. */
  private static final int EPOCHS_KEPT = 64;

  private final TreeMap<Long, Set<Long>> byEpoch = new TreeMap<>();

  /** Takes note of an epoch whose job has ended. */
  synchronized void epochDone(EpochReport report) {
    Set<Long> attempts =
        report.tasks().stream()
            .filter(TaskReport::asksForCallbacks)
            .map(TaskReport::attempt)
            .collect(Collectors.toUnmodifiableSet());
    if (!attempts.isEmpty()) {
      byEpoch.put(report.epoch(), attempts);
    }
    byEpoch.headMap(report.epoch() - EPOCHS_KEPT, true).clear();
  }

  /** The attempts of the epochs that are kept. */
  synchronized Set<Long> attempts() {
    return byEpoch.values().stream()
        .flatMap(Set::stream)
        .collect(Collectors.toUnmodifiableSet());
  }
}
