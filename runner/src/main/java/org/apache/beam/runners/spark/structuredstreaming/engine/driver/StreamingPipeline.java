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
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling.ExecutorScaling;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanFingerprint;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.apache.spark.util.SerializableConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pipeline from its start to its end. A thread of its own watches the query, restarts one that
 * failed and decides the end:
 *
 * <ul>
 *   <li>DONE: every source and step has come to the end of time, of itself or by {@link #drain}, and
 *       that epoch is committed;
 *   <li>CANCELLED: {@link #stop} was called, and the epoch that was running is committed;
 *   <li>FAILED: the query failed more than {@code maxRestarts} times in a row, as {@link FailureCount}
 *       counts, or once if a source has no mark to go on from ({@link UnmarkedSources}).
 * </ul>
 *
 * <p>Any thread may call any public method.
 */
public final class StreamingPipeline extends RunningPipeline {
  private static final Logger LOG = LoggerFactory.getLogger(StreamingPipeline.class);

  /** More than a write to a file system that works, or its failure, takes. */
  private static final long WRITERS_PATIENCE_MILLIS = 120_000;

  private static final String STILL_WRITING =
      "It is not started again: a task that has not ended for " + WRITERS_PATIENCE_MILLIS
          + " ms may still write to the checkpoint, over what another attempt would write. Its executor is"
          + " stuck: end it, and start the pipeline again.";

  private final Plan plan;
  private final CheckpointDirectory checkpoint;
  private final boolean temporaryCheckpoint;
  private final PipelineProgress progress;
  private final PipelineGauges gauges;
  private final String checkpointIdentity;
  private final CountDownLatch stopRequested = new CountDownLatch(1);
  private final UnmarkedSources unmarked;
  private final Optional<ExecutorScaling> scaling;
  private CheckpointDirectory.Claim claim;
  private UUID checkpointId;
  private Drain drain;
  private volatile QueryStart current;
  private volatile StreamingQueryProgress progressOfEarlierStart;

  private StreamingPipeline(
      Plan plan,
      SparkStructuredStreamingPipelineOptions options,
      SparkSession session,
      CheckpointDirectory checkpoint,
      boolean temporaryCheckpoint) {
    super(options, session);
    this.plan = plan;
    this.checkpoint = checkpoint;
    this.temporaryCheckpoint = temporaryCheckpoint;
    this.checkpointIdentity = checkpoint.identity();
    this.unmarked =
        new UnmarkedSources(
            plan,
            checkpoint.location(),
            new SerializableConfiguration(session.sessionState().newHadoopConf()));
    this.progress = new PipelineProgress(plan);
    this.gauges = new PipelineGauges(options.getJobName(), plan, progress);
    this.scaling = ExecutorScaling.of(options, session.sparkContext());
  }

  /** Starts a pipeline; its query runs when this returns. After an exception nothing is left. */
  public static StreamingPipeline start(
      Plan plan, SparkStructuredStreamingPipelineOptions options) {
    SparkSession session = SparkSessions.acquire(options);
    try {
      ExecutorScaling.refuseBesideSparks(options, session.sparkContext());
      boolean temporary = options.getCheckpointDir() == null;
      String location =
          temporary ? temporaryDirectory(session, options) : options.getCheckpointDir();
      CheckpointDirectory checkpoint =
          CheckpointDirectory.open(location, session.sessionState().newHadoopConf());
      StreamingPipeline pipeline =
          new StreamingPipeline(plan, options, session, checkpoint, temporary);
      try {
        PipelineRegistry.claim(pipeline);
        pipeline.begin();
        return pipeline;
      } catch (RuntimeException | Error e) {
        PipelineRegistry.release(pipeline);
        pipeline.cleanUp();
        throw e;
      }
    } catch (RuntimeException | Error e) {
      SparkSessions.release(session, options);
      throw e;
    }
  }

  /** The checkpoint directory, qualified. */
  public String checkpointLocation() {
    return checkpoint.location();
  }

  @Override
  String checkpointIdentity() {
    return checkpointIdentity;
  }

  /** What {@link PipelineRegistry} has set, under its lock; null before. */
  UUID checkpointId() {
    return checkpointId;
  }

  void setCheckpointId(UUID id) {
    checkpointId = id;
  }

  @Override
  public PipelineSnapshot snapshot() {
    StreamingQuery query = current == null ? null : current.query();
    return snapshot(
        query == null ? null : query.id().toString(),
        query == null ? null : query.runId().toString(),
        checkpointLocation());
  }

  public PipelineProgress progress() {
    return progress;
  }

  /** The query of the current start, or of the last one. */
  public StreamingQuery query() {
    return current.query();
  }

  /** Spark's progress of the last epoch as JSON, null before the first. It outlives the query. */
  public String progressJson() {
    StreamingQueryProgress last = query().lastProgress();
    StreamingQueryProgress shown = last == null ? progressOfEarlierStart : last;
    return shown == null ? null : shown.json();
  }

  /** Asks the pipeline to end after the epoch that is running, or without it. Returns at once. */
  @Override
  public void stop() {
    stopRequested.countDown();
    current.control().stop();
  }

  /** See {@link Drain}. Asked for again, or of a pipeline that has ended, it changes nothing. */
  @Override
  public void drain() {
    drain.request();
    current.control().drainRequested();
  }

  private static String temporaryDirectory(
      SparkSession session, SparkStructuredStreamingPipelineOptions options) {
    SparkSessions.requireLocal(session.sparkContext().master());
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
        options().getParallelism() > 0
            ? options().getParallelism()
            : session().sparkContext().defaultParallelism();
    if (options().isDrain() && !checkpoint.isClaimed()) {
      throw new IllegalStateException(
          "--drain=true, but no pipeline has been started with the checkpoint directory "
              + checkpoint.location() + ": there is nothing to drain. Set --checkpointDir to that of"
              + " the pipeline to drain, or leave --drain out.");
    }
    checkpoint.takeLease(name(), options().getCheckpointLeaseMillis());
    claim = checkpoint.claim(PlanFingerprint.of(plan), wanted, session());
    PipelineRegistry.claimCheckpoint(this, claim.checkpointId());
    drain = Drain.of(checkpoint, claim.firstEpoch());
    if (options().isDrain()) {
      drain.request();
    }
    if (options().getParallelism() > 0 && claim.parallelism() != options().getParallelism()) {
      LOG.warn(
          "Pipeline {} goes on with the parallelism of its checkpoint, {}; --parallelism={} is ignored",
          name(),
          claim.parallelism(),
          options().getParallelism());
    }
    TaskCounts.warnings(
            claim.parallelism(),
            options().getSourceSplits(),
            session().sparkContext().defaultParallelism())
        .forEach(warning -> LOG.warn("Pipeline {}: {}", name(), warning));
    if (!unmarked.withoutMarkCoder().isEmpty()) {
      LOG.warn(
          "Pipeline {} reads {}, which have no checkpoint mark coder: it is not restarted after a"
              + " failure, and started again by you it reads them from their beginning",
          name(),
          unmarked.withoutMarkCoder());
    }
    scaling.ifPresent(this::beginScaling);
    gauges.register();
    current = startQuery();
    LOG.info(
        "Pipeline {} runs as query {} with {} levels, {} sources and {} partitions, checkpoint {}",
        name(),
        query().id(),
        plan.levels().size(),
        plan.sources().size(),
        claim.parallelism(),
        checkpoint.location());
    follow();
  }

  private void beginScaling(ExecutorScaling begun) {
    if (!unmarked.withoutMarkCoder().isEmpty()) {
      throw new IllegalArgumentException(
          "--dynamicAllocation=true, but pipeline " + name() + " reads " + unmarked.withoutMarkCoder()
              + ", which have no checkpoint mark coder: their readers cannot move to other executors. Run"
              + " it without the option.");
    }
    if (options().getParallelism() == 0 || options().getSourceSplits() == 0) {
      LOG.warn(
          "Pipeline {} is scaled by load with a parallelism of {} and --sourceSplits={}, 0 for Spark's"
              + " cores at its first start: set --parallelism and --sourceSplits to a few for each core"
              + " of the most executors, as they are fixed with the checkpoint",
          name(),
          claim.parallelism(),
          options().getSourceSplits());
    }
    gauges.ofScaling(begun);
    begun.begin();
  }

  private QueryStart startQuery() {
    return QueryStart.start(
        session(), plan, options(), checkpoint, claim, drain, progress, metrics(), scaling);
  }

  /** Follows the query through its restarts. */
  @Override
  State runToEnd() throws InterruptedException {
    FailureCount count = new FailureCount(options().getMaxRestarts(), options().getRestartBackoffMillis());
    while (true) {
      Ending ending = awaitQuery();
      if (ending.failure() == null) {
        return current.control().isFinished() ? State.DONE : State.CANCELLED;
      }
      long failedEpoch = ending.committedEpoch() + 1;
      count.failed(current.control().firstEpochWithRows(), ending.committedEpoch());
      if (!ending.hasNoWriters()) {
        failed(Failures.noting(Failures.rootOf(ending.failure()), STILL_WRITING));
        LOG.error("Pipeline {} has failed in epoch {}. {}", name(), failedEpoch, STILL_WRITING, failure());
        return State.FAILED;
      }
      if (!count.mayRestart() || checkpoint.lease().isLost() || isStopRequested() || isSparkStopped()) {
        failed(Failures.rootOf(ending.failure()));
        LOG.error("Pipeline {} has failed in epoch {}", name(), failedEpoch, failure());
        return State.FAILED;
      }
      String unrestartable = unmarked.reasonAgainstRestart(claim.firstEpoch(), failedEpoch);
      if (unrestartable != null) {
        failed(Failures.noting(Failures.rootOf(ending.failure()), unrestartable));
        LOG.error("Pipeline {} has failed. {}", name(), unrestartable, failure());
        return State.FAILED;
      }
      LOG.warn(
          "Pipeline {} failed in epoch {} and is started again from its checkpoint in {} ms,"
              + " restart {} of {}",
          name(),
          failedEpoch,
          count.backoffMillis(),
          count.failures(),
          options().getMaxRestarts(),
          ending.failure());
      if (stopRequested.await(count.backoffMillis(), TimeUnit.MILLISECONDS)) {
        return State.CANCELLED;
      }
      current = startQuery();
      // What was asked of the start before may not have come to this one.
      current.control().drainRequested();
      if (isStopRequested()) {
        current.control().stop();
      }
    }
  }

  /**
   * How a start of the query has ended.
   *
   * @param failure null if it ended as it should
   * @param committedEpoch the last committed epoch, -1 if there is none
   * @param hasNoWriters whether no task of it can write to the checkpoint any more
   */
  private record Ending(Throwable failure, long committedEpoch, boolean hasNoWriters) {}

  /** Waits for the current query's end, takes note of what it committed and removes what is left of it. */
  private Ending awaitQuery() throws InterruptedException {
    QueryStart start = current;
    long committedEpoch = -1;
    try {
      start.awaitEnding();
      start.end(options().getCancelTimeoutMillis());
      boolean hasNoWriters = start.awaitWriters(WRITERS_PATIENCE_MILLIS);
      if (start.query().lastProgress() != null) {
        progressOfEarlierStart = start.query().lastProgress();
      }
      // The round for the next epoch, which would tell of the last one's commit, has not come.
      committedEpoch = checkpoint.lastCommittedEpoch(session());
      metrics().committedUpTo(committedEpoch);
      return new Ending(start.terminated().join(), committedEpoch, hasNoWriters);
    } finally {
      start.cleanUp(committedEpoch);
    }
  }

  private boolean isStopRequested() {
    return stopRequested.getCount() == 0;
  }

  private boolean isSparkStopped() {
    return session().sparkContext().isStopped();
  }

  private void deleteTemporaryCheckpoint() {
    try {
      if (temporaryCheckpoint) {
        checkpoint.delete();
      }
    } catch (IOException e) {
      LOG.warn("The temporary checkpoint {} cannot be deleted", checkpoint.location(), e);
    }
  }

  @Override
  void cleanUp() {
    gauges.remove();
    scaling.ifPresent(ExecutorScaling::end);
    checkpoint.releaseLease();
    deleteTemporaryCheckpoint();
  }
}
