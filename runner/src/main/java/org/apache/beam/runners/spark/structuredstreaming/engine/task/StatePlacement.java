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

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which executor each of a level's partitions prefers: the one that has its state open, as long as the
 * partitions are even over the executors. With {@code P} partitions and {@code n} live executors
 *
 * <pre>
 * floor(P / n) &lt;= partitions(executor) &lt;= ceil(P / n)
 * </pre>
 *
 * <p>So partitions leave an executor only if it has more than its share, as when another one has
 * arrived, or if it is gone; and once they have moved, they stay.
 */
final class StatePlacement {
  private StatePlacement() {}

  /**
   * The preferred executor of every partition; no partition has one where there are no executors.
   *
   * @param open by partition, the executor that has its state open, which may live no more
   * @param live the names of all executors, in an order that stays
   * @param level the level's number: levels with few partitions begin at executors of their own
   */
  static List<Optional<String>> of(List<Optional<String>> open, List<String> live, int level) {
    if (live.isEmpty()) {
      return open;
    }
    Map<String, Integer> counts = new HashMap<>();
    live.forEach(executor -> counts.put(executor, 0));
    int share = open.size() / live.size();
    int larger = open.size() % live.size();
    List<Optional<String>> placed = new ArrayList<>();
    for (Optional<String> executor : open) {
      int count = executor.map(counts::get).orElse(Integer.MAX_VALUE);
      boolean stays = count < share || (count == share && larger > 0);
      if (stays) {
        larger -= count == share ? 1 : 0;
        counts.merge(executor.get(), 1, Integer::sum);
      }
      placed.add(stays ? executor : Optional.empty());
    }
    List<String> rotated = new ArrayList<>();
    for (int i = 0; i < live.size(); i++) {
      rotated.add(live.get((i + level) % live.size()));
    }
    for (int partition = 0; partition < placed.size(); partition++) {
      if (placed.get(partition).isEmpty()) {
        // The first of those with fewest; all shares fill up exactly, so none becomes too large.
        String fewest = rotated.stream().min(Comparator.comparing(counts::get)).orElseThrow();
        counts.merge(fewest, 1, Integer::sum);
        placed.set(partition, Optional.of(fewest));
      }
    }
    return placed;
  }
}
