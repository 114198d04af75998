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

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.beam.runners.core.construction.SerializablePipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.engine.batch.BatchLevelRdd;
import org.apache.beam.runners.spark.structuredstreaming.engine.batch.BatchTasks;
import org.apache.beam.runners.spark.structuredstreaming.engine.batch.ReadPartition;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EngineSetup;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.ReportAccumulator;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.spark.SparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.AccumulatorContext$;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * A bounded pipeline from its start to its end, run as one Spark job on a thread of its own; as another
 * one if the first is not {@linkplain EpochReport#isOfOneRun of one run}.
 *
 * <ul>
 *   <li>DONE: the job has ended;
 *   <li>CANCELLED: {@link #stop} was called before that, when the sources were split or the job ran;
 *   <li>FAILED: the job has failed, which it does when a task has failed as often as Spark is set to
 *       try one.
 * </ul>
 *
 * <p>Any thread may call any public method.
 */
public final class BatchPipeline extends RunningPipeline {
  private static final Logger LOG = LoggerFactory.getLogger(BatchPipeline.class);
  private static final String JOB_GROUP = "spark.jobGroup.id";
  private static final ClassTag<EngineSetup> SETUP = ClassTag$.MODULE$.apply(EngineSetup.class);

  private final Plan plan;
  private final UUID runId = UUID.randomUUID();
  private final FutureTask<Division> dividing = new FutureTask<>(this::divide);
  private volatile boolean stopped;

  private BatchPipeline(
      Plan plan, SparkStructuredStreamingPipelineOptions options, SparkSession session) {
    super(options, session);
    this.plan = plan;
  }

  /** Starts a pipeline; it runs when this returns. After an exception nothing is left. */
  public static BatchPipeline start(Plan plan, SparkStructuredStreamingPipelineOptions options) {
    SparkSession session = SparkSessions.acquire(options);
    BatchPipeline pipeline = new BatchPipeline(plan, options, session);
    try {
      PipelineRegistry.claim(pipeline);
      pipeline.follow();
      return pipeline;
    } catch (RuntimeException | Error e) {
      // Nothing to be let go of if the name was another's.
      PipelineRegistry.release(pipeline);
      SparkSessions.release(session, options);
      throw e;
    }
  }

  /** A batch pipeline has no checkpoint. */
  @Override
  String checkpointIdentity() {
    return null;
  }

  @Override
  public PipelineSnapshot snapshot() {
    return snapshot(runId.toString(), runId.toString(), null);
  }

  @Override
  public void stop() {
    stopped = true;
    dividing.cancel(true);
    if (!session().sparkContext().isStopped()) {
      session().sparkContext().cancelJobGroup(runId.toString());
    }
  }

  @Override
  public void drain() {
    throw new UnsupportedOperationException(
        "The pipeline " + name() + " is run as batch: it ends when its bounded input is processed, and"
            + " there is nothing to drain. Call cancel() to end it before that.");
  }

  @Override
  State runToEnd() {
    try {
      runJob();
      return State.DONE;
    } catch (Exception | Error e) {
      // Spark throws a checked exception here that its methods do not declare.
      if (stopped) {
        LOG.info("Pipeline {} was cancelled: {}", name(), e.toString());
        return State.CANCELLED;
      }
      failed(Failures.rootOf(e));
      LOG.error("Pipeline {} has failed", name(), failure());
      return State.FAILED;
    }
  }

  /** Does nothing: what there was has gone with the job. */
  @Override
  void cleanUp() {}

  private void runJob() throws InterruptedException {
    Division division = awaitDivision();
    List<LevelPartitions> partitions = division.levels();
    int parallelism = division.parallelism();
    LOG.info(
        "Pipeline {} runs as batch with {} levels, {} splits of {} sources of about {} bytes, and {}"
            + " partitions",
        name(),
        plan.levels().size(),
        partitions.stream().mapToInt(ofLevel -> ofLevel.splits().size()).sum(),
        plan.sources().size(),
        division.totalBytes(),
        parallelism);
    for (int restarts = 0; !runOnce(partitions, parallelism); restarts++) {
      String found =
          "Pipeline " + name() + ": tasks were run again, as after the loss of an executor, when others"
              + " had read what they wrote before";
      if (restarts >= options().getMaxRestarts()) {
        throw new IllegalStateException(
            found + ". That has happened " + (restarts + 1) + " times, and --maxRestarts="
                + options().getMaxRestarts() + " allows no further run.");
      }
      LOG.warn("{}. All of it is run again.", found);
    }
  }

  /**
   * Runs the job once.
   *
   * @return false if what has come out is mixed of two runs of a level, and does not count
   */
  private boolean runOnce(List<LevelPartitions> partitions, int parallelism) {
    SparkContext context = session().sparkContext();
    String runKey = UUID.randomUUID().toString();
    EngineSetup engineSetup =
        new EngineSetup(
            runKey,
            plan,
            new SerializablePipelineOptions(options()),
            parallelism,
            null,
            null,
            options().getReaderIdleTimeoutMillis());
    ReportAccumulator reports = new ReportAccumulator();
    // Those of failed attempts too: they count as attempted.
    reports.register(context, Option.empty(), true);
    Broadcast<EngineSetup> setup = context.broadcast(engineSetup, SETUP);
    UsedAttempts usedAttempts = new UsedAttempts();
    boolean ended = false;
    boolean counts = false;
    try {
      runLevels(partitions, new BatchTasks(setup, reports, runId, startTime().toEpochMilli()));
      ended = true;
    } finally {
      EpochReport used = metrics().epochEnded(0, reports.take());
      counts = ended && used.isOfOneRun();
      if (counts) {
        metrics().epochCommitted(0);
        usedAttempts.epochDone(used);
      }
      ExecutorCleanup.run(context, runKey, runKey, counts ? 0 : -1, usedAttempts.attempts());
      AccumulatorContext$.MODULE$.remove(reports.id());
      if (!context.isStopped()) {
        setup.destroy();
      }
    }
    return counts;
  }

  /** What a level is divided into: the partitions of its keyed steps, and the splits of its sources. */
  private record LevelPartitions(int keyed, List<ReadPartition> splits) {}

  /** What the pipeline is divided into. */
  private record Division(int parallelism, long totalBytes, List<LevelPartitions> levels) {}

  /**
   * Lets the sources be split in a thread of their own: one that does not heed its interruption is left
   * behind when the pipeline is stopped.
   */
  private Division awaitDivision() throws InterruptedException {
    Thread thread = new Thread(dividing, "beam-split-" + name());
    thread.setDaemon(true);
    thread.start();
    try {
      return dividing.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      // The call declares no checked exception.
      throw (RuntimeException) e.getCause();
    }
  }

  private Division divide() {
    int cores = session().sparkContext().defaultParallelism();
    BatchSources sources = BatchSources.of(plan, options(), metrics(), cores);
    int parallelism = sources.partitions();
    List<LevelPartitions> levels = new ArrayList<>();
    for (Level level : plan.levels()) {
      boolean hasKeyed =
          level.roots().stream()
              .anyMatch(root -> root instanceof KeyedStep && !(root instanceof ViewStep));
      int keyed = hasKeyed ? parallelism : 0;
      levels.add(new LevelPartitions(keyed, sources.split(level, keyed)));
    }
    return new Division(parallelism, sources.totalBytes(), levels);
  }

  private void runLevels(List<LevelPartitions> partitions, BatchTasks tasks) {
    SparkContext context = session().sparkContext();
    LevelShuffles shuffles =
        new LevelShuffles(context, plan, tasks.parallelism());
    context.setJobGroup(runId.toString(), "Beam pipeline " + name(), true);
    CancelsLateJobs listener = new CancelsLateJobs();
    context.addSparkListener(listener);
    try (ProgressLine line = new ProgressLine(options(), context, runId.toString())) {
      for (Level level : plan.levels()) {
        String name = StepNames.nameStage(context, level);
        LevelPartitions ofLevel = partitions.get(level.number());
        BatchLevelRdd rdd =
            new BatchLevelRdd(
                context,
                level.number(),
                shuffles.written(),
                ofLevel.keyed(),
                ofLevel.splits(),
                tasks);
        rdd.setName(name);
        shuffles.add(rdd);
      }
      StepNames.nameEnd(context, name());
      line.start(plan.levels().size());
      shuffles.runAll();
    } finally {
      shuffles.remove();
      context.removeSparkListener(listener);
      context.clearCallSite();
      context.clearJobGroup();
    }
  }

  /**
   * Cancels the job if it starts behind {@link #stop}, whose own cancellation then found none: {@code
   * stopped} is set before that looks for jobs, and a job is among them before its start is told.
   */
  private final class CancelsLateJobs extends SparkListener {
    @Override
    public void onJobStart(SparkListenerJobStart start) {
      if (stopped && runId.toString().equals(start.properties().getProperty(JOB_GROUP))) {
        session().sparkContext().cancelJob(start.jobId());
      }
    }
  }
}
