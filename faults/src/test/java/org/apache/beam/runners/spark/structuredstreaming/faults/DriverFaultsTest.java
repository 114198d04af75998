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

import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.KILL_DRIVER;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The driver dies at each of the steps of an epoch, and is started again. */
class DriverFaultsTest {
  private static final int EXECUTORS = 2;

  private static final List<Fault> FAULTS =
      List.of(
          Fault.once(
              "driver killed before the offset log entry", KILL_DRIVER, "^file offsets/1 before"),
          Fault.once("driver killed after the offset log entry", KILL_DRIVER, "^file offsets/3 after"),
          Fault.once(
              "driver killed in the middle of the job", KILL_DRIVER, "^shuffle epoch=4 reading"),
          Fault.once(
              "driver killed after the commit log entry", KILL_DRIVER, "^file commits/6 after"),
          new Fault(
              "driver killed before the commit log entry, twice at the same epoch",
              2,
              KILL_DRIVER,
              "^file commits/8 before"));

  @TempDir Path directory;

  static List<List<SeededPipeline>> pipelines() {
    return Rotation.of(
        SeededPipeline.SUMS, SeededPipeline.SESSIONS, SeededPipeline.SPLITTABLE);
  }

  @ParameterizedTest
  @MethodSource("pipelines")
  void aDriverThatDiesLosesNothing(List<SeededPipeline> pipelines) throws Exception {
    FaultRun run = new FaultRun(directory, pipelines, 2, EXECUTORS, FAULTS).toTheEnd();
    assertThat(run.kills(), is(6L));
  }
}
