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
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;

import org.junit.jupiter.api.Test;

/** More than 64 tasks for each core are worth a warning. */
class TaskCountsTest {
  @Test
  void upToTheLimitThereIsNoWarning() {
    assertThat(TaskCounts.warnings(128, 128, 2), empty());
    assertThat(TaskCounts.warnings(1, 0, 1), empty());
  }

  @Test
  void eachNumberAboveTheLimitIsWarnedOf() {
    assertThat(
        TaskCounts.warnings(129, 130, 2),
        contains(
            allOf(containsString("129"), containsString("2 cores")),
            containsString("--sourceSplits=130")));
  }
}
