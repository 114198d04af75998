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
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The query is stopped in the middle of an epoch, by an interruption of its thread. Spark's scheduler may
 * hear of the end of a task only then: a shuffle that is not known any more by that time is a failure of
 * the scheduler itself, which ends the Spark application.
 */
@Timeout(120)
class InterruptedEpochTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir Path directory;

  /** The shuffles that stages write. */
  private static final class Shuffles extends SparkListener {
    private final Set<Integer> ids = new ConcurrentSkipListSet<>();

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
      if (submitted.stageInfo().shuffleDepId().isDefined()) {
        ids.add((Integer) submitted.stageInfo().shuffleDepId().get());
      }
    }
  }

  @Test
  void sparksSchedulerKnowsTheShufflesOfAnEpochThatIsBrokenOff() throws Exception {
    String record = "r0-1";
    RecoveryPipeline pipeline = new RecoveryPipeline("interrupted", directory, Set.of(), Set.of());
    WaitPoints points = new WaitPoints(directory.resolve("points"));
    Shuffles shuffles = new Shuffles();
    SPARK.session().sparkContext().addSparkListener(shuffles);
    RestartHarness harness =
        new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            p ->
                pipeline.build(
                    p,
                    records -> records.apply(points.on("wait", Set.of(record))),
                    groups -> groups),
            "--maxRestarts=0");
    SparkStructuredStreamingPipelineResult result = harness.start();
    Await.until("the middle of an epoch", () -> points.isReached(record), result::getState);
    result.query().stop();
    Await.until("the end", () -> result.getState().isTerminal(), result::getState);
    SPARK.session().sparkContext().listenerBus().waitUntilEmpty(30_000);
    MapOutputTrackerMaster tracker =
        (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    assertThat("stages that write a shuffle", shuffles.ids.isEmpty(), is(false));
    for (int id : shuffles.ids) {
      assertThat("shuffle " + id, tracker.containsShuffle(id), is(true));
    }
    harness.runToTheEnd();
    pipeline.assertExact();
    SPARK.session().sparkContext().removeSparkListener(shuffles);
  }
}
