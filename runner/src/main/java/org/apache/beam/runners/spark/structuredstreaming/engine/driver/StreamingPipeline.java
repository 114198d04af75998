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

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanFingerprint;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pipeline from its start to its end. A thread of its own watches the query, restarts one that
 * failed and decides the end:
 *
 * <ul>
 *   <li>DONE: every source and step has come to the end of time, and that epoch is committed;
 *   <li>CANCELLED: {@link #stop} was called, and the epoch that was running is committed;
 *   <li>FAILED: the query failed more than {@code maxRestarts} times without an epoch committed in
 *       between.
 * </ul>
 *
 * <p>Any thread may call any public method.
 */
public final class StreamingPipeline {
  private static final Logger LOG = LoggerFactory.getLogger(StreamingPipeline.class);
  private static final long STOP_CHECK_MILLIS = 50;

  private final Plan plan;
  private final SparkStructuredStreamingPipelineOptions options;
  private final SparkSession session;
  private final CheckpointDirectory checkpoint;
  private final boolean temporaryCheckpoint;
  private final PipelineProgress progress;
  private final PipelineMetrics metrics = new PipelineMetrics();
  private final CountDownLatch ended = new CountDownLatch(1);
  private int parallelism;
  private volatile QueryStart current;
  private volatile boolean stopping;
  private volatile State state = State.RUNNING;
  private volatile Throwable failure;

  private StreamingPipeline(
      Plan plan,
      SparkStructuredStreamingPipelineOptions options,
      SparkSession session,
      CheckpointDirectory checkpoint,
      boolean temporaryCheckpoint) {
    this.plan = plan;
    this.options = options;
    this.session = session;
    this.checkpoint = checkpoint;
    this.temporaryCheckpoint = temporaryCheckpoint;
    this.progress = new PipelineProgress(plan);
  }

  /** Starts a pipeline; its query runs when this returns. After an exception nothing is left. */
  public static StreamingPipeline start(
      Plan plan, SparkStructuredStreamingPipelineOptions options) {
    SparkSession session = SparkSessions.acquire(options);
    try {
      boolean temporary = options.getCheckpointDir() == null;
      String location =
          temporary ? temporaryDirectory(session, options) : options.getCheckpointDir();
      CheckpointDirectory checkpoint =
          CheckpointDirectory.open(location, session.sessionState().newHadoopConf());
      StreamingPipeline pipeline =
          new StreamingPipeline(plan, options, session, checkpoint, temporary);
      PipelineRegistry.claim(pipeline);
      try {
        pipeline.begin();
        return pipeline;
      } catch (RuntimeException e) {
        PipelineRegistry.release(pipeline);
        throw e;
      }
    } catch (RuntimeException e) {
      SparkSessions.release(session, options);
      throw e;
    }
  }

  /** The name of the pipeline and of its query. */
  public String name() {
    return options.getJobName();
  }

  /** The checkpoint directory, qualified. */
  public String checkpointLocation() {
    return checkpoint.location();
  }

  public State state() {
    return state;
  }

  /** Why the pipeline failed; null unless it has. */
  public Throwable failure() {
    return failure;
  }

  public PipelineMetrics metrics() {
    return metrics;
  }

  public PipelineProgress progress() {
    return progress;
  }

  /** The query of the current start, or of the last one. */
  public StreamingQuery query() {
    return current.query();
  }

  /** Spark's progress of the last epoch as JSON, null before the first. */
  public String progressJson() {
    StreamingQueryProgress last = query().lastProgress();
    return last == null ? null : last.json();
  }

  /** Asks the pipeline to end after the epoch that is running. Returns at once. */
  public void stop() {
    stopping = true;
    current.control().stop();
  }

  /**
   * Waits for the pipeline's end.
   *
   * @param limit how long at most, null for ever
   * @return the final state, or null if it goes on; interruption counts as the end of the wait
   */
  public State awaitEnd(Duration limit) {
    try {
      if (limit == null) {
        ended.await();
      } else if (!ended.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        return null;
      }
      return state;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  private static String temporaryDirectory(
      SparkSession session, SparkStructuredStreamingPipelineOptions options) {
    if (!session.sparkContext().master().startsWith("local")) {
      throw new IllegalArgumentException(
          "--checkpointDir is not set, and on the master " + session.sparkContext().master()
              + " a local directory would not reach the executors. Set it to a directory on a file"
              + " system that driver and executors share.");
    }
    try {
      String directory = Files.createTempDirectory("beam-checkpoint-").toUri().toString();
      LOG.info(
          "Pipeline {} keeps its checkpoint in {}, which is deleted at its end. It cannot be started"
              + " again from there; set --checkpointDir for that.",
          options.getJobName(),
          directory);
      return directory;
    } catch (IOException e) {
      throw new IllegalStateException("No temporary directory can be made for the checkpoint", e);
    }
  }

  private void begin() {
    int wanted =
        options.getParallelism() > 0
            ? options.getParallelism()
            : session.sparkContext().defaultParallelism();
    parallelism = checkpoint.claim(PlanFingerprint.of(plan), wanted);
    if (options.getParallelism() > 0 && parallelism != options.getParallelism()) {
      LOG.warn(
          "Pipeline {} goes on with the parallelism of its checkpoint, {}; --parallelism={} is ignored",
          name(),
          parallelism,
          options.getParallelism());
    }
    current = startQuery();
    LOG.info(
        "Pipeline {} runs as query {} with {} levels, {} sources and {} partitions, checkpoint {}",
        name(),
        query().id(),
        plan.levels().size(),
        plan.sources().size(),
        parallelism,
        checkpoint.location());
    Thread watcher = new Thread(this::watch, "beam-pipeline-" + name());
    watcher.setDaemon(true);
    watcher.start();
  }

  private QueryStart startQuery() {
    return QueryStart.start(session, plan, options, checkpoint, parallelism, progress, metrics);
  }

  /** Follows the query through its restarts to the pipeline's end. */
  private void watch() {
    State end = State.FAILED;
    try {
      end = runToEnd();
    } catch (RuntimeException | InterruptedException | ExecutionException e) {
      failure = e;
    } finally {
      end(end);
    }
  }

  private State runToEnd() throws InterruptedException, ExecutionException {
    int failures = 0;
    long epochOfLastFailure = -1;
    while (true) {
      Throwable failed = awaitQuery();
      if (failed == null) {
        return current.control().isFinished() ? State.DONE : State.CANCELLED;
      }
      long epoch = progress.epoch();
      failures = epoch > epochOfLastFailure ? 1 : failures + 1;
      epochOfLastFailure = epoch;
      if (failures > options.getMaxRestarts() || stopping) {
        failure = Failures.rootOf(failed);
        LOG.error("Pipeline {} has failed in epoch {}", name(), epoch + 1, failure);
        return State.FAILED;
      }
      long backoff = options.getRestartBackoffMillis() << Math.min(failures - 1, 10);
      LOG.warn(
          "Pipeline {} failed in epoch {} and is started again from its checkpoint in {} ms,"
              + " restart {} of {}",
          name(),
          epoch + 1,
          backoff,
          failures,
          options.getMaxRestarts(),
          failed);
      ended.await(backoff, TimeUnit.MILLISECONDS);
      current = startQuery();
      if (stopping) {
        current.control().stop();
      }
    }
  }

  /**
   * Waits for the current query's end and removes what is left of it.
   *
   * @return its failure, or null if it ended as it should
   */
  private Throwable awaitQuery() throws InterruptedException, ExecutionException {
    QueryStart start = current;
    CompletableFuture<Throwable> terminated = start.terminated();
    CompletableFuture<Object> either =
        CompletableFuture.anyOf(terminated, start.control().quiet());
    try {
      while (!terminated.isDone()) {
        if (either.isDone() || isStoppedBetweenEpochs(start)) {
          start.stopQuery();
          terminated.get();
        } else {
          awaitAtMost(either, STOP_CHECK_MILLIS);
        }
      }
      return start.control().quiet().isDone() ? null : terminated.get();
    } finally {
      start.cleanUp();
    }
  }

  /** Whether the query waits for a trigger that may be long in coming, and is to stop. */
  private boolean isStoppedBetweenEpochs(QueryStart start) {
    return stopping
        && !start.query().status().isTriggerActive()
        && progress.epoch() >= 0;
  }

  private static void awaitAtMost(CompletableFuture<?> future, long millis)
      throws InterruptedException, ExecutionException {
    try {
      future.get(millis, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      LOG.trace("Still waiting", e);
    }
  }

  private void end(State end) {
    PipelineRegistry.ended(this);
    try {
      if (temporaryCheckpoint) {
        checkpoint.delete();
      }
    } catch (IOException e) {
      LOG.warn("The temporary checkpoint {} cannot be deleted", checkpoint.location(), e);
    } finally {
      SparkSessions.release(session, options);
      state = end;
      LOG.info("Pipeline {} has ended as {}", name(), end);
      ended.countDown();
    }
  }
}
