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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.joda.time.Duration;

/**
 * Runs a pipeline again and again with one checkpoint directory. Every run builds the pipeline anew,
 * as a process that is started again does.
 */
public final class RestartHarness {
  private static final Duration LIMIT = Duration.standardMinutes(4);

  /** Lets a run have one epoch: the second one would begin years later. */
  private static final List<String> ONE_EPOCH =
      List.of("--triggerIntervalMillis=2000000000000", "--readerIdleTimeoutMillis=2000000000001");

  private final TestSpark spark;
  private final Consumer<Pipeline> build;
  private final List<String> options = new ArrayList<>();
  private Path checkpoint;

  /** A harness for the pipelines that {@code build} makes. */
  public RestartHarness(
      TestSpark spark, Path checkpoint, Consumer<Pipeline> build, String... options) {
    this.spark = spark;
    this.build = build;
    this.options.addAll(List.of(options));
    this.checkpoint = checkpoint;
  }

  /** The directory that the next run uses. */
  public Path checkpoint() {
    return checkpoint;
  }

  /** Lets the runs that follow use another directory. */
  public void moveTo(Path directory) {
    checkpoint = directory;
  }

  /** Starts a run. */
  public SparkStructuredStreamingPipelineResult start() {
    return start(List.of());
  }

  private SparkStructuredStreamingPipelineResult start(List<String> more) {
    List<String> arguments = new ArrayList<>(options);
    arguments.addAll(more);
    arguments.add("--checkpointDir=" + checkpoint);
    Pipeline pipeline = Pipeline.create(spark.options(arguments.toArray(String[]::new)));
    build.accept(pipeline);
    return (SparkStructuredStreamingPipelineResult) pipeline.run();
  }

  /**
   * Starts a run and cancels it once the condition holds.
   *
   * @return the state it ended in: CANCELLED, or DONE if it came to its end before
   */
  public State runUntil(
      String what, Predicate<SparkStructuredStreamingPipelineResult> condition) {
    SparkStructuredStreamingPipelineResult result = start();
    cancelOnce(result, what, condition);
    return result.getState();
  }

  private static void cancelOnce(
      SparkStructuredStreamingPipelineResult result,
      String what,
      Predicate<SparkStructuredStreamingPipelineResult> condition) {
    try {
      Await.until(
          what,
          () -> condition.test(result) || result.getState().isTerminal(),
          () -> result.getState() + " after epoch " + result.progress().epoch());
    } finally {
      result.cancel();
    }
  }

  /**
   * Starts one run after the other, each of which has one epoch and is stopped behind it, until one
   * comes to the pipeline's end.
   *
   * @return the number of runs, which is that of epochs
   */
  public int runEpochByEpoch() {
    int runs = 0;
    SparkStructuredStreamingPipelineResult result;
    do {
      result = start(ONE_EPOCH);
      cancelOnce(result, "the epoch of this run", run -> run.progress().epoch() >= 0);
      if (result.getState() != State.CANCELLED) {
        finish(result);
      }
      assertThat("the only epoch of run " + runs, result.progress().epoch(), is((long) runs));
      runs++;
    } while (result.getState() == State.CANCELLED);
    return runs;
  }

  /** Starts a run and waits for it to come to its end. */
  public SparkStructuredStreamingPipelineResult runToTheEnd() {
    SparkStructuredStreamingPipelineResult result = start();
    finish(result);
    return result;
  }

  /** Waits for a run to come to its end; one that does not is cancelled. */
  public static void finish(SparkStructuredStreamingPipelineResult result) {
    State state = result.waitUntilFinish(LIMIT);
    if (state == null) {
      result.cancel();
    }
    assertThat(state, is(State.DONE));
  }

  /** Starts a run that is to fail, and returns why it did. */
  public Throwable runToFailure() {
    SparkStructuredStreamingPipelineResult result = start();
    PipelineExecutionException failure =
        assertThrows(PipelineExecutionException.class, () -> finish(result));
    return failure.getCause();
  }
}
