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

import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.FAIL;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.LOSE_SHUFFLE;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.OUTLIVE;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.RELEASE;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.TOLD;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What file systems and Spark itself do: writes fail, shuffled data goes, a task stays. */
class StorageFaultsTest {
  private static final int EXECUTORS = 2;

  private static final String DISK = "disk full on the checkpoint's file system";

  private static final List<Fault> FAULTS =
      List.of(
          Fault.once("state commit that fails", FAIL, "^file state/1/0/2\\..* before"),
          Fault.once("offset log entry that cannot be written", FAIL, "^file offsets/2 before"),
          Fault.once("mark that cannot be written", FAIL, "^file beam/sources/.*-4 before"),
          Fault.once("commit log entry that cannot be written", FAIL, "^file commits/4 before"),
          Fault.once(DISK, TOLD, "^file offsets/5 full"),
          new Fault(DISK, 5, TOLD, "^file beam/sources/.*-6 full"),
          new Fault(DISK, 5, TOLD, "^file state/.*/6\\.[a-z]+ full"),
          Fault.once(DISK, TOLD, "^file commits/5 full"),
          Fault.once("fetch failure: shuffled data is gone", LOSE_SHUFFLE, "^shuffle epoch=6 begin"),
          Fault.once(
              "task that outlives its epoch", OUTLIVE, "^read .* epoch=7 partition=0 record=2"),
          new Fault("epoch that fails beside such a task", 4, FAIL, "^read .* epoch=7 partition=1 record=2"),
          Fault.once(
              "task that comes back when its epoch is long over", RELEASE, "^file commits/8 after"));

  @TempDir Path directory;

  static List<List<SeededPipeline>> pipelines() {
    return Rotation.of(
        SeededPipeline.SIDE_INPUTS, SeededPipeline.SPLITTABLE, SeededPipeline.DEDUPLICATION);
  }

  @ParameterizedTest
  @MethodSource("pipelines")
  void storesThatFailLoseNothing(List<SeededPipeline> pipelines) throws Exception {
    FaultRun run =
        new FaultRun(directory, pipelines, 4, EXECUTORS, FAULTS).with("--maxRestarts=20");
    try (SmallDisk disk = SmallDisk.at(directory.resolve(FaultProgram.CHECKPOINT))) {
      run.toTheEnd();
      assertThat("files that " + disk + " took when it was full", run.count(EventLog.DISK_NOT_FULL), is(0L));
    }
    assertThat("starts of the driver", run.ends(), is(List.of(FaultProgram.DONE)));
    assertThat(run.count(EventLog.DISK_FULL), greaterThanOrEqualTo(run.happened(DISK)));
  }
}
