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

import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.AWAIT_TEST;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.OUTLIVE;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.RELEASE;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.SLOW;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.TOLD;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.testing.StandaloneCluster;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Somebody else is at the same work: the copies that Spark starts of slow tasks, on other hosts, and a
 * second driver with the checkpoint of one that runs.
 */
class CompetitionFaultsTest {
  @RegisterExtension static final StandaloneCluster CLUSTER = StandaloneCluster.of(2, 2);

  private static final int EXECUTORS = 2;
  private static final String SECOND = "second driver on the checkpoint of one that runs";
  private static final int WON_BY_COPIES = 2;

  private static final List<Fault> FAULTS =
      List.of(
          Fault.once(
              "slow task whose copy wins (spark.speculation=true)",
              SLOW,
              "^read .* epoch=1 partition=0 record=2"),
          Fault.once(
              "slow task that heeds nothing, whose copy wins",
              OUTLIVE,
              "^read .* epoch=2 partition=1 record=2"),
          Fault.once("such a task that goes on in a later epoch", RELEASE, "^file commits/3 after"),
          Fault.once(
              "copy of a task that comes while the task writes its mark", TOLD, "^mark .* epoch=5 "),
          // Time enough for a mark of a task that has lost to be there when the next epoch reads.
          Fault.once(SECOND, AWAIT_TEST, "^file commits/5 before"));

  @TempDir Path directory;

  static List<List<SeededPipeline>> pipelines() {
    return Rotation.of(SeededPipeline.COUNTS, SeededPipeline.SUMS);
  }

  @ParameterizedTest
  @MethodSource("pipelines")
  void othersAtTheSameWorkChangeNothing(List<SeededPipeline> pipelines) throws Exception {
    FaultRun run =
        new FaultRun(directory, pipelines, 8, EXECUTORS, FAULTS)
            .with("spark.speculation=true")
            .with("spark.speculation.interval=50ms")
            .with("spark.speculation.quantile=0.5")
            // Every epoch reads from the mark that is durable.
            .with("--readerIdleTimeoutMillis=1")
            .with("--checkpointLeaseMillis=3000")
            .withSecondDriverAt(SECOND);
    CLUSTER.settings().forEach((name, value) -> run.with(name + "=" + value));
    run.toTheEnd();
    assertThat("starts of the first driver", run.ends(), is(List.of(FaultProgram.DONE)));
    assertThat(run.secondEnd(), is(FaultProgram.FAILED));
    assertThat(
        run.failures().get(0), containsString("The checkpoint is in use by another driver (job "));
    assertThat("copies that won", run.count(EventLog.COPY), greaterThanOrEqualTo((long) WON_BY_COPIES));
    assertThat("tasks overtaken while they wrote", run.count(EventLog.OVERTAKEN), is(0L));
  }
}
