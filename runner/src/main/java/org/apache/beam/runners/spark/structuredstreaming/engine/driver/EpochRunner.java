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
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EngineSetup;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EpochTasks;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.ReportAccumulator;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.SourceLevelRdd;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.StatefulLevelRdd;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.TaskReport;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import org.apache.spark.sql.execution.streaming.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.OffsetSeqMetadata;
import org.apache.spark.util.CallSite;
import scala.Option;
import scala.collection.JavaConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Runs epochs as Spark jobs: one job an epoch, a shuffle map stage for each level and an empty
 * result stage behind the last. Called by the query's thread, for one epoch at a time.
 */
final class EpochRunner {
  private static final ClassTag<InternalRow> ROW = ClassTag$.MODULE$.apply(InternalRow.class);

  private final SparkSession session;
  private final Plan plan;
  private final Broadcast<EngineSetup> setup;
  private final ReportAccumulator reports;
  private final PipelineClock clock;
  private final Drain drain;
  private final CommitCoordinator commits;
  private final UsedAttempts usedAttempts = new UsedAttempts();

  EpochRunner(
      SparkSession session,
      Plan plan,
      Broadcast<EngineSetup> setup,
      ReportAccumulator reports,
      PipelineClock clock,
      Drain drain,
      CommitCoordinator commits) {
    this.session = session;
    this.plan = plan;
    this.setup = setup;
    this.reports = reports;
    this.clock = clock;
    this.drain = drain;
    this.commits = commits;
  }

  /**
   * Runs an epoch to its end; whatever fails comes as the exception Spark throws.
   *
   * @param data what Spark would write to a sink: its physical plan has a scan for each source
   */
  void run(long epoch, Dataset<Row> data) {
    IncrementalExecution execution = (IncrementalExecution) data.queryExecution();
    EpochTasks tasks =
        new EpochTasks(
            setup,
            reports,
            epoch,
            execution.runId(),
            processingTime(epoch, execution),
            drain.isDraining(epoch),
            usedAttempts.attempts());
    LevelShuffles shuffles =
        new LevelShuffles(
            session.sparkContext(), plan, setup.value().parallelism());
    commits.epochBegins(epoch);
    CallSite ofQuery = session.sparkContext().getCallSite();
    try {
      for (int level = 0; level < plan.levels().size(); level++) {
        String name = StepNames.nameStage(session.sparkContext(), plan.levels().get(level));
        RDD<?> rdd =
            level == 0
                ? new SourceLevelRdd(scans(execution.executedPlan()), tasks)
                : new StatefulLevelRdd(
                    session.sparkContext(),
                    tasks,
                    level,
                    shuffles.written(),
                    session.streams().stateStoreCoordinator());
        rdd.setName(name);
        shuffles.add(rdd);
      }
      StepNames.nameEnd(session.sparkContext(), "epoch " + epoch);
      shuffles.runAll();
    } finally {
      session.sparkContext().setCallSite(ofQuery);
      shuffles.remove();
    }
  }

  private long processingTime(long epoch, IncrementalExecution execution) {
    Option<OffsetSeqMetadata> previous = execution.prevOffsetSeqMetadata();
    return clock.timeOf(
        epoch,
        previous.isDefined() ? previous.get().batchTimestampMs() : Long.MIN_VALUE,
        execution.offsetSeqMetadata().batchTimestampMs());
  }

  /** The attempts that callbacks of committed bundles are of. */
  UsedAttempts usedAttempts() {
    return usedAttempts;
  }

  /** Takes what tasks have reported since the last call, of failed attempts too. */
  List<TaskReport> takeReports() {
    return reports.take();
  }

  /**
   * The rows of all sources, below the projection that would copy them: the live elements that the
   * readers return.
   */
  private RDD<InternalRow> scans(SparkPlan executedPlan) {
    List<RDD<InternalRow>> scans = new ArrayList<>();
    for (SparkPlan leaf : JavaConverters.seqAsJavaList(executedPlan.collectLeaves())) {
      if (leaf instanceof MicroBatchScanExec scan) {
        scans.add(scan.execute());
      }
    }
    if (scans.size() != plan.sources().size()) {
      throw new IllegalStateException(
          "The epoch's plan has " + scans.size() + " scans for " + plan.sources().size()
              + " sources:\n" + executedPlan);
    }
    return scans.size() == 1
        ? scans.get(0)
        : session.sparkContext().union(JavaConverters.asScalaBuffer(scans).toSeq(), ROW);
  }
}
