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
package org.apache.beam.runners.spark.structuredstreaming.properties;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.EpochLog;
import org.apache.beam.runners.spark.structuredstreaming.testing.FailingLifecycleFn;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.SideInputPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.SparkCounting;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.KV;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Executors in processes of their own: nothing goes by static fields, and any of them may die. */
class LocalClusterTest extends RestartTable {
  @RegisterExtension static final TestSpark SPARK = LocalCluster.of(2);

  @Override
  TestSpark spark() {
    return SPARK;
  }

  private RestartHarness harness(RecoveryPipeline pipeline, int recordsPerEpoch) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint"),
        pipeline::build,
        "--maxRecordsPerMicroBatch=" + recordsPerEpoch,
        "--maxRestarts=0");
  }

  @Test
  void failingTasksAndRestartsOnSeparateExecutorsAreExact() {
    List<String> groups = RecoveryPipeline.groups();
    RecoveryPipeline pipeline =
        new RecoveryPipeline(
            "cluster", directory, Set.of("r0-3", "r1-8", "r1-15"), Set.of(groups.get(1), groups.get(5)));
    RestartHarness harness = harness(pipeline, 10);
    assertThat(
        harness.runUntil("two epochs", result -> result.progress().epoch() >= 1),
        is(State.CANCELLED));
    harness.runToTheEnd();
    pipeline.assertExact();
    assertThat(pipeline.faults().happened(RecoveryPipeline.BEFORE), is(3));
    assertThat(pipeline.faults().happened(RecoveryPipeline.BEHIND), is(2));
  }

  /** Views are broadcast to, kept on and read by executors that share nothing, over a restart. */
  @Test
  void sideInputsOnSeparateExecutorsAreExact() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    RestartHarness harness =
        new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            p -> SideInputPipeline.build(p, "side-cluster", recorder),
            "--maxRestarts=0");
    assertThat(
        harness.runUntil("two epochs", result -> result.progress().epoch() >= 1),
        is(State.CANCELLED));
    harness.runToTheEnd();
    assertThat(
        SideInputPipeline.outputs(recorder).stream().map(Recorded::value).toList(),
        is(SideInputPipeline.VALUES));
  }

  /**
   * apache/spark#24892, apache/spark#50033: an executor is killed while one task of an epoch's last
   * level has ended and the other runs, with map outputs of the lower level on it; and another while
   * an epoch reads. The query is to go on by itself: no job of it fails, nobody starts it again.
   */
  @Test
  void executorsKilledInMidEpochLoseNothing() {
    String behind = RecoveryPipeline.groups().get(0);
    String before = "r1-17";
    RecoveryPipeline pipeline = new RecoveryPipeline("killed", directory, Set.of(), Set.of());
    WaitPoints points = new WaitPoints(directory.resolve("victims"));
    LocalCluster.awaitExecutors(SPARK, 2);
    try (SparkCounting counting = SparkCounting.of(SPARK);
        EpochLog log = EpochLog.of(SPARK)) {
      SparkStructuredStreamingPipelineResult result =
          new RestartHarness(
                  SPARK,
                  directory.resolve("checkpoint"),
                  p ->
                      pipeline.build(
                          p,
                          records -> records.apply(points.on("victim before", Set.of(before))),
                          groups -> groups.apply(points.on("victim behind", Set.of(behind)))),
                  "--maxRecordsPerMicroBatch=10",
                  "--maxRestarts=5")
              .start();
      long epoch;
      try {
        awaitVictim(result, points, behind);
        epoch = counting.lastEpoch();
        Await.until(
            "the end of the last level's other task",
            () -> !counting.executorsOf(epoch, 1).isEmpty(),
            counting::epochs);
        // Both executors have read, so that the one that is killed takes map outputs with it.
        assertThat(counting.executorsOf(epoch, 0).size(), is(2));
        LocalCluster.kill(points.processOf(behind));
        awaitVictim(result, points, before);
        LocalCluster.kill(points.processOf(before));
        RestartHarness.finish(result);
      } finally {
        result.cancel();
      }
      assertThat("failed jobs", counting.failedJobs(), empty());
      assertThat("starts of the query", log.queryStarts(), is(1));
      assertThat("attempts of the read stage", counting.lastAttempt(epoch, 0), greaterThan(0));
      assertThat("attempts of the last level", counting.lastAttempt(epoch, 1), greaterThan(0));
    }
    pipeline.assertExact();
  }

  /** What Beam's ParDoLifecycleTest shows by static fields where the test's own JVM runs DoFns. */
  @ParameterizedTest
  @EnumSource
  void everyInstanceIsTornDownAfterAFailure(FailingLifecycleFn.Call failing) throws IOException {
    for (boolean stateful : new boolean[] {false, true}) {
      Path instances = Files.createDirectory(directory.resolve("instances-" + stateful));
      Pipeline pipeline =
          Pipeline.create(
              SPARK.options(
                  "--checkpointDir=" + directory.resolve("checkpoint-" + stateful),
                  "--maxRestarts=0"));
      pipeline
          .apply(Create.of(KV.of("a", 1L), KV.of("b", 2L), KV.of("c", 3L)))
          .apply(ParDo.of(FailingLifecycleFn.of(instances, failing, stateful)));
      PipelineExecutionException failure =
          assertThrows(PipelineExecutionException.class, () -> pipeline.run().waitUntilFinish());
      assertThat(
          failure.getCause().getMessage(), containsString("fails on purpose in " + failing));
      assertThat(FailingLifecycleFn.setUp(instances), not(empty()));
      Await.until(
          "the tear-down of all instances",
          () ->
              FailingLifecycleFn.tornDown(instances).equals(FailingLifecycleFn.setUp(instances)),
          () -> FailingLifecycleFn.tornDown(instances));
    }
  }

  private static void awaitVictim(
      SparkStructuredStreamingPipelineResult result, WaitPoints points, String element) {
    Await.until(
        element,
        () -> points.isReached(element) || result.getState().isTerminal(),
        () -> result.getState() + " after epoch " + result.progress().epoch());
    assertThat(element, points.isReached(element));
  }
}
