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
import static org.hamcrest.Matchers.arrayContaining;
import static org.hamcrest.Matchers.emptyArray;
import static org.hamcrest.Matchers.hasSize;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Where splits prefer to be read. */
class ExecutorPlacementTest {
  private static final List<String> EXECUTORS =
      List.of("executor_a_1", "executor_b_2", "executor_c_3");

  @Test
  void anySplitsAreSpreadEvenly() {
    Set<String> used = new HashSet<>();
    for (int split = 0; split < EXECUTORS.size(); split++) {
      used.add(new ExecutorPlacement(EXECUTORS).preferredLocations(-77, split)[0]);
    }

    assertThat(used, hasSize(EXECUTORS.size()));
  }

  @Test
  void aSplitStaysWhereItIsWhileTheExecutorsAreTheSame() {
    String[] first = new ExecutorPlacement(EXECUTORS).preferredLocations(42, 1);

    assertThat(
        new ExecutorPlacement(EXECUTORS).preferredLocations(42, 1), arrayContaining(first));
  }

  @Test
  void withoutExecutorsASplitGoesAnywhere() {
    assertThat(new ExecutorPlacement(List.of()).preferredLocations(42, 1), emptyArray());
  }
}
