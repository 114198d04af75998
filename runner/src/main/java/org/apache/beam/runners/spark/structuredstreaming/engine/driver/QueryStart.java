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
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.beam.runners.core.construction.SerializablePipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling.ExecutorScaling;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStoreSettings;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EngineSetup;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.ReportAccumulator;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.StateSetup;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamSourceProvider;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamSourceRegistry;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ReadLimits;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceRegistration;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.TestStreamSource;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.scheduler.ExecutorCacheTaskLocation;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.Trigger;
import org.apache.spark.util.AccumulatorContext$;
import org.apache.spark.util.SerializableConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * One start of a pipeline's query, from its registration with Spark until nothing is left of it. A
 * pipeline that is restarted has one after the other.
 */
final class QueryStart {
  private static final Logger LOG = LoggerFactory.getLogger(QueryStart.class);
  private static final long COMMIT_CHECK_MILLIS = 5;
  private static final ClassTag<EngineSetup> SETUP = ClassTag$.MODULE$.apply(EngineSetup.class);

  private final String runKey;
  private final SparkSession session;
  private final CheckpointDirectory checkpoint;
  private final EpochControl control;
  private final Broadcast<EngineSetup> setup;
  private final CommitCoordinator commits;
  private final ReportAccumulator reports = new ReportAccumulator();
  private final CompletableFuture<Throwable> terminated = new CompletableFuture<>();
  private UsedAttempts usedAttempts = new UsedAttempts();
  private StreamingQuery query;

  private QueryStart(
      SparkSession session,
      CheckpointDirectory checkpoint,
      EpochControl control,
      EngineSetup engineSetup) {
    this.runKey = engineSetup.runKey();
    this.session = session;
    this.checkpoint = checkpoint;
    this.control = control;
    this.setup = session.sparkContext().broadcast(engineSetup, SETUP);
    this.commits =
        CommitCoordinator.start(session.sparkContext(), runKey, checkpoint.lease()::isHeld);
  }

  /**
   * Starts the query; it runs when this returns.
   *
   * @param claim what the checkpoint says of the user's start; restarts that the user has not asked
   *     for have the same
   */
  static QueryStart start(
      SparkSession session,
      Plan plan,
      SparkStructuredStreamingPipelineOptions options,
      CheckpointDirectory checkpoint,
      CheckpointDirectory.Claim claim,
      Drain drain,
      PipelineProgress progress,
      PipelineMetrics metrics,
      Optional<ExecutorScaling> scaling) {
    PipelineClock clock = new PipelineClock(plan);
    EpochControl control =
        new EpochControl(
            plan.sources().size(),
            options.getMaxIdlePauseMillis(),
            progress,
            clock,
            drain,
            new ReadPace(
                options.getMaxBatchDurationMillis(), session.sparkContext().defaultParallelism()),
            metrics::epochCommitted,
            epoch -> scaling.ifPresent(it -> it.epochCommitted(epoch)));
    SerializablePipelineOptions serializableOptions = new SerializablePipelineOptions(options);
    EngineSetup engineSetup =
        new EngineSetup(
            UUID.randomUUID().toString(),
            plan,
            serializableOptions,
            claim.parallelism(),
            checkpoint.location(),
            new StateSetup(
                claim.checkpointId(),
                checkpoint.stateLocation(),
                StateStoreSettings.of(session.sessionState().conf()),
                new SerializableConfiguration(session.sessionState().newHadoopConf())),
            options.getReaderIdleTimeoutMillis());
    QueryStart start = new QueryStart(session, checkpoint, control, engineSetup);
    // Those of failed attempts too: they count as attempted.
    start.reports.register(session.sparkContext(), Option.empty(), true);
    EpochRunner runner =
        new EpochRunner(session, plan, start.setup, start.reports, clock, drain, start.commits);
    start.usedAttempts = runner.usedAttempts();
    EngineSink sink =
        new EngineSink(
            options.getJobName(), checkpoint.lease(), runner, control, progress, metrics);
    try {
      EngineSinkProvider.register(start.runKey, sink);
      BeamSourceRegistry.register(
          start.runKey,
          start.registrations(plan, options, serializableOptions, metrics, claim.firstEpoch()));
      start.startQuery(plan, options);
      scaling.ifPresent(it -> it.follow(start.query(), start::sayFarewell));
      return start;
    } catch (RuntimeException | TimeoutException e) {
      start.cleanUp(-1);
      throw e instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(e);
    }
  }

  StreamingQuery query() {
    return query;
  }

  EpochControl control() {
    return control;
  }

  /** Completes when the query has ended: with its failure, or with null if it was stopped. */
  CompletableFuture<Throwable> terminated() {
    return terminated;
  }

  /** Waits until the query has ended, or is to end because no further epoch will begin. */
  void awaitEnding() {
    CompletableFuture.anyOf(terminated, control.ending()).join();
  }

  /**
   * Ends a query that begins no further epoch, once its last epoch is committed, and waits for that.
   * It need not come to its next trigger for it, which may be long in coming.
   *
   * @param patienceMillis how long the last epoch may take yet. Then it is broken off: its tasks are
   *     interrupted and it is not committed. Tasks that do not heed that are left behind, and come to
   *     nothing durable
   */
  void end(long patienceMillis) throws InterruptedException {
    long startNanos = System.nanoTime();
    long patienceNanos = TimeUnit.MILLISECONDS.toNanos(patienceMillis);
    CompletableFuture<Object> idle = CompletableFuture.anyOf(terminated, control.quiet());
    while (!idle.isDone() && query.status().isTriggerActive()) {
      if (System.nanoTime() - startNanos > patienceNanos && control.breakOff()) {
        LOG.warn(
            "{}: the running epoch has not ended within --cancelTimeoutMillis={} and is broken off. It"
                + " is run again when the pipeline is started again with its checkpoint",
            query.name(),
            patienceMillis);
        break;
      }
      try {
        idle.get(COMMIT_CHECK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        LOG.trace("The last epoch of {} is not committed yet", query.name(), e);
      } catch (ExecutionException e) {
        throw new IllegalStateException(e);
      }
    }
    try {
      query.stop();
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "The query of " + query.name() + " does not stop: its thread is stuck.", e);
    }
    terminated.join();
  }

  /**
   * Waits until no task of this start writes anything durable, which none begins to any more. The query
   * has ended.
   *
   * @return false if one still writes after {@code patienceMillis}
   */
  boolean awaitWriters(long patienceMillis) throws InterruptedException {
    return commits.close(patienceMillis);
  }

  /**
   * Removes everything that this start put into driver and executors. The query has ended.
   *
   * @param committedEpoch the last epoch that is committed, -1 if there is none or it is not known
   */
  void cleanUp(long committedEpoch) {
    commits.close();
    EngineSinkProvider.unregister(runKey);
    BeamSourceRegistry.unregister(runKey);
    ExecutorCleanup.run(
        session.sparkContext(), runKey, checkpoint.location(), committedEpoch, usedAttempts.attempts());
    AccumulatorContext$.MODULE$.remove(reports.id());
    if (!session.sparkContext().isStopped()) {
      setup.destroy();
    }
  }

  private boolean sayFarewell(ExecutorCacheTaskLocation executor, long committedEpoch)
      throws InterruptedException {
    return ExecutorCleanup.runOn(
        executor,
        session.sparkContext(),
        runKey,
        checkpoint.location(),
        committedEpoch,
        usedAttempts.attempts());
  }

  private void startQuery(Plan plan, SparkStructuredStreamingPipelineOptions options)
      throws TimeoutException {
    query =
        rows(plan)
            .writeStream()
            .format(EngineSinkProvider.class.getName())
            .option(EngineSinkProvider.REGISTRATION, runKey)
            .option("checkpointLocation", checkpoint.location())
            .queryName(options.getJobName())
            .outputMode("append")
            .trigger(Trigger.ProcessingTime(options.getTriggerIntervalMillis()))
            .start();
    Thread waiter = new Thread(this::awaitTermination, "beam-query-" + options.getJobName());
    waiter.setDaemon(true);
    waiter.start();
  }

  private void awaitTermination() {
    try {
      query.awaitTermination();
      terminated.complete(null);
    } catch (StreamingQueryException | RuntimeException | Error e) {
      terminated.complete(e);
    }
  }

  private Dataset<Row> rows(Plan plan) {
    Dataset<Row> all = null;
    for (ReadStep source : plan.sources()) {
      Dataset<Row> rows =
          session
              .readStream()
              .format(BeamSourceProvider.class.getName())
              .option("registration", runKey)
              .option("source", Integer.toString(source.sourceIndex()))
              .load();
      all = all == null ? rows : all.union(rows);
    }
    return all;
  }

  private List<SourceRegistration> registrations(
      Plan plan,
      SparkStructuredStreamingPipelineOptions options,
      SerializablePipelineOptions serializableOptions,
      PipelineMetrics metrics,
      long firstEpoch) {
    int splits =
        options.getSourceSplits() > 0
            ? options.getSourceSplits()
            : session.sparkContext().defaultParallelism();
    List<SourceRegistration> registrations = new ArrayList<>();
    for (ReadStep source : plan.sources()) {
      registrations.add(
          SourceRegistration.builder()
              .fullName(source.fullName())
              .sourceIndex(source.sourceIndex())
              .source(source.source())
              .options(serializableOptions)
              .checkpointDir(checkpoint.location())
              .stableId(source.stableId())
              .desiredSplits(splits)
              .limits(limits(source, options))
              .readerIdleTimeoutMillis(options.getReaderIdleTimeoutMillis())
              .gate(control)
              .driverMetrics(metrics.driverContainer(source.fullName()))
              .minEpochsToRetain(session.sessionState().conf().minBatchesToRetain())
              .resumedEpoch(firstEpoch)
              .endedByDrain(source.isUnbounded())
              .build());
    }
    return registrations;
  }

  /** An event of a TestStream comes as a whole, whatever limits there are. */
  private static ReadLimits limits(
      ReadStep source, SparkStructuredStreamingPipelineOptions options) {
    return source.source() instanceof TestStreamSource<?>
        ? new ReadLimits(0, 0)
        : new ReadLimits(
            options.getMaxRecordsPerMicroBatch(), options.getMaxBatchDurationMillis());
  }
}
