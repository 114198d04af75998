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

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which executor is released. */
class ExecutorHoldingsTest {
  @Test
  void anExecutorThatHoldsNothingGoesBeforeAnyOther() {
    assertThat(
        ExecutorHoldings.leastHolding(List.of("7", "8", "9"), Map.of("7", 1, "9", 1)),
        is(Optional.of("8")));
  }

  @Test
  void elseTheOneThatHoldsLeast() {
    assertThat(
        ExecutorHoldings.leastHolding(List.of("7", "8", "9"), Map.of("7", 2, "8", 3, "9", 4)),
        is(Optional.of("7")));
  }

  @Test
  void ofSeveralTheOneThatCameLast() {
    assertThat(
        ExecutorHoldings.leastHolding(List.of("9", "10", "8"), Map.of("9", 2, "10", 2, "8", 2)),
        is(Optional.of("10")));
  }

  @Test
  void anExecutorThatIsGoneIsNone() {
    assertThat(
        ExecutorHoldings.leastHolding(List.of("8"), Map.of("7", 1, "8", 2)),
        is(Optional.of("8")));
    assertThat(ExecutorHoldings.leastHolding(List.of(), Map.of("7", 1)), is(Optional.empty()));
  }
}
