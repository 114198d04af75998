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
import static org.hamcrest.Matchers.is;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Where partitions with state prefer to be. */
class StatePlacementTest {
  private static List<Optional<String>> places(String... executors) {
    return Stream.of(executors)
        .map(executor -> executor.isEmpty() ? Optional.<String>empty() : Optional.of(executor))
        .toList();
  }

  @Test
  void whatIsEvenStays() {
    List<Optional<String>> even = places("b", "a", "b", "c", "a");
    assertThat(StatePlacement.of(even, List.of("a", "b", "c"), 1), is(even));
  }

  @Test
  void anExecutorThatArrivesGetsItsShareAndNothingElseMoves() {
    assertThat(
        StatePlacement.of(places("a", "a", "b", "b", "a", "b"), List.of("a", "b", "c"), 1),
        is(places("a", "a", "b", "b", "c", "c")));
  }

  @Test
  void whatAnExecutorHadThatIsGoneGoesToTheOthers() {
    assertThat(
        StatePlacement.of(places("a", "b", "c", "a", "b", "c"), List.of("a", "c"), 2),
        is(places("a", "a", "c", "a", "c", "c")));
  }

  @Test
  void withoutExecutorsNothingIsPreferred() {
    assertThat(StatePlacement.of(places("", ""), List.of(), 1), is(places("", "")));
  }

  @Test
  void levelsWithFewPartitionsBeginAtExecutorsOfTheirOwn() {
    List<String> executors = List.of("a", "b", "c");
    assertThat(StatePlacement.of(places(""), executors, 1), is(places("b")));
    assertThat(StatePlacement.of(places(""), executors, 2), is(places("c")));
  }

  /** Whatever the state is before: even, and the same again when partitions are where they were to go. */
  @Test
  void everyPlacementIsEvenAndStays() {
    long seed = 20_240_513;
    Random random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      List<String> known = List.of("a", "b", "c", "d", "e", "");
      List<String> live = known.subList(0, 1 + random.nextInt(4));
      List<Optional<String>> open = new ArrayList<>();
      int partitions = 1 + random.nextInt(12);
      for (int partition = 0; partition < partitions; partition++) {
        String executor = known.get(random.nextInt(known.size()));
        open.add(executor.isEmpty() ? Optional.empty() : Optional.of(executor));
      }
      String which = "round " + round + " of seed " + seed + ": " + open + " on " + live;
      List<Optional<String>> placed = StatePlacement.of(open, live, random.nextInt(4));
      List<Integer> counts =
          live.stream().map(executor -> Collections.frequency(placed, Optional.of(executor))).toList();
      assertThat(which, counts.stream().mapToInt(Integer::intValue).sum(), is(partitions));
      assertThat(which, Collections.max(counts) - Collections.min(counts) <= 1, is(true));
      assertThat(which, StatePlacement.of(placed, live, random.nextInt(4)), is(placed));
    }
  }
}
