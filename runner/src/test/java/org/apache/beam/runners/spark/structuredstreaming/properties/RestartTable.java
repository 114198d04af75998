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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.PipelineResult.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Where a pipeline can be stopped and started again, for every kind of master alike: a source, a
 * grouping and a sum, in six epochs.
 */
abstract class RestartTable {
  private static final int RECORDS_PER_EPOCH = 7;

  /**
   * A record that split 0 reads in the middle of each epoch: of seven records it has four and three
   * by turns, so its epochs begin at 0, 4, 7, 11, 14 and 18. The last one ends the source.
   */
  private static final List<String> IN_EVERY_EPOCH =
      List.of("r0-1", "r0-5", "r0-8", "r0-12", "r0-15", "r0-19");

  /** A group of each window: the three close in three epochs. */
  private static final List<String> IN_EVERY_WINDOW = RecoveryPipeline.groups().subList(0, 3);

  @TempDir Path directory;

  /** The session of the test class. */
  abstract TestSpark spark();

  /** A pipeline with waiting points and all its runs. */
  private final class Runs {
    final RecoveryPipeline pipeline;
    final WaitPoints points = new WaitPoints(directory.resolve("points"));
    final RestartHarness harness;

    Runs(String name, List<String> records, List<String> groups) {
      String source = name + "-" + RestartTable.this.getClass().getSimpleName();
      pipeline = new RecoveryPipeline(source, directory, Set.of(), Set.of());
      harness =
          new RestartHarness(
              spark(),
              directory.resolve("checkpoint"),
              p ->
                  pipeline.build(
                      p,
                      read -> read.apply(points.on("wait before", Set.copyOf(records))),
                      grouped -> grouped.apply(points.on("wait behind", Set.copyOf(groups)))),
              "--maxRecordsPerMicroBatch=" + RECORDS_PER_EPOCH,
              "--maxRestarts=0");
    }

    SparkStructuredStreamingPipelineResult runTo(String element) {
      SparkStructuredStreamingPipelineResult result = harness.start();
      Await.until(
          element,
          () -> points.isReached(element) || result.getState().isTerminal(),
          () -> result.getState() + " after epoch " + result.progress().epoch());
      assertThat(element, result.getState(), is(State.RUNNING));
      return result;
    }

    /** The greatest number in a log of Spark's. */
    int last(String log) {
      String[] names = harness.checkpoint().resolve(log).toFile().list();
      return Arrays.stream(names == null ? new String[0] : names)
          .filter(name -> name.matches("[0-9]+"))
          .mapToInt(Integer::parseInt)
          .max()
          .orElse(-1);
    }
  }

  @Test
  void stoppedAtEveryEpochBoundaryAndStartedAgainEverythingCountsOnce() throws InterruptedException {
    List<String> allButTheLast = IN_EVERY_EPOCH.subList(0, IN_EVERY_EPOCH.size() - 1);
    Runs runs = new Runs("boundary", allButTheLast, List.of());
    for (int epoch = 0; epoch < allButTheLast.size(); epoch++) {
      String element = allButTheLast.get(epoch);
      SparkStructuredStreamingPipelineResult result = runs.runTo(element);
      // The epoch waits until the stop is asked for, so that this is the last epoch of the run.
      Thread canceller = new Thread(result::cancel, "canceller");
      canceller.start();
      Await.until(
          "a stop that is asked for",
          () ->
              canceller.getState() == Thread.State.WAITING
                  || canceller.getState() == Thread.State.TIMED_WAITING,
          canceller::getState);
      runs.points.open(element);
      canceller.join();
      assertThat(result.getState(), is(State.CANCELLED));
      assertThat(runs.last("commits"), is(epoch));
      assertThat(runs.last("offsets"), is(epoch));
    }
    runs.harness.runToTheEnd();
    assertThat(runs.last("commits"), is(allButTheLast.size()));
    runs.pipeline.assertExact();
  }

  /** The query is stopped as Spark stops it, which waits for nothing: the epoch must be run again. */
  @Test
  void stoppedInTheMiddleOfEveryEpochAndStartedAgainEverythingCountsOnce() throws TimeoutException {
    Runs runs = new Runs("middle", IN_EVERY_EPOCH, IN_EVERY_WINDOW);
    List<String> left = new ArrayList<>(IN_EVERY_EPOCH);
    left.addAll(IN_EVERY_WINDOW);
    while (!left.isEmpty()) {
      SparkStructuredStreamingPipelineResult result = runs.harness.start();
      Await.until(
          "one of " + left,
          () -> left.stream().anyMatch(runs.points::isReached) || result.getState().isTerminal(),
          () -> result.getState() + " after epoch " + result.progress().epoch());
      assertThat(left.toString(), result.getState(), is(State.RUNNING));
      result.query().stop();
      assertThat(result.waitUntilFinish(), is(State.CANCELLED));
      assertThat(runs.last("offsets"), is(runs.last("commits") + 1));
      assertThat(left.toString(), left.removeIf(runs.points::isReached));
    }
    runs.harness.runToTheEnd();
    runs.pipeline.assertExact();
  }
}
