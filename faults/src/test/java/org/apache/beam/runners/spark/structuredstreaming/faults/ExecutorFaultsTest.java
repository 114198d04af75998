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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.KILL_ALL_EXECUTORS;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.KILL_EXECUTOR;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.KILL_TWO_EXECUTORS;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Executors die, wherever they are in an epoch: one start of the driver comes to the right end. */
class ExecutorFaultsTest {
  private static final int EXECUTORS = 3;

  /** One for an epoch: what is at a point of epoch e has the number e, what is durable behind it e + 1. */
  private static final List<Fault> FAULTS =
      List.of(
          Fault.once("executor killed before it reads", KILL_EXECUTOR, "^read .* epoch=1 .*begin"),
          Fault.once("executor killed while it reads", KILL_EXECUTOR, "^read .* epoch=2 .*record=2"),
          Fault.once(
              "executor killed between mark and task end",
              KILL_EXECUTOR,
              "^file beam/sources/.*-4 after"),
          Fault.once(
              "executor killed during the shuffle read", KILL_EXECUTOR, "^shuffle epoch=4 reading"),
          Fault.once(
              "executor killed during the state commit", KILL_EXECUTOR, "^file state/1/0/6\\..* before"),
          Fault.once(
              "executor killed after the state commit", KILL_EXECUTOR, "^file state/1/1/7\\..* after"),
          Fault.once(
              "executor killed after all tasks, before the epoch's commit",
              KILL_EXECUTOR,
              "^file commits/7 begin"),
          Fault.once("two executors killed at once", KILL_TWO_EXECUTORS, "^read .* epoch=8 .*record=2"),
          Fault.once("all executors killed", KILL_ALL_EXECUTORS, "^shuffle epoch=9 reading"),
          Fault.once(
              "executor killed when a task has ended", KILL_EXECUTOR, "^task end epoch=10 level=0"));

  @TempDir Path directory;

  static List<List<SeededPipeline>> pipelines() {
    return Rotation.of(SeededPipeline.COUNTS, SeededPipeline.SUMS, SeededPipeline.SIDE_INPUTS);
  }

  @ParameterizedTest
  @MethodSource("pipelines")
  void executorsThatDieLoseNothing(List<SeededPipeline> pipelines) throws Exception {
    FaultRun run = new FaultRun(directory, pipelines, 1, EXECUTORS, FAULTS).toTheEnd();
    assertThat("starts of the driver", run.ends(), is(List.of(FaultProgram.DONE)));
  }
}
