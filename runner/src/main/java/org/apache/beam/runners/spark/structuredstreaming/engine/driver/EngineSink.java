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

import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics;
import org.apache.spark.sql.execution.streaming.Sink;

/**
 * The one sink of a pipeline's query: what Spark hands it to write, it runs as the pipeline's epoch.
 * Called by the query's thread.
 */
final class EngineSink implements Sink, ReportsSinkMetrics {
  private final String pipelineName;
  private final CheckpointLease lease;
  private final EpochRunner runner;
  private final EpochControl control;
  private final PipelineProgress progress;
  private final PipelineMetrics metrics;

  EngineSink(
      String pipelineName,
      CheckpointLease lease,
      EpochRunner runner,
      EpochControl control,
      PipelineProgress progress,
      PipelineMetrics metrics) {
    this.pipelineName = pipelineName;
    this.lease = lease;
    this.runner = runner;
    this.control = control;
    this.progress = progress;
    this.metrics = metrics;
  }

  @Override
  public void addBatch(long epoch, Dataset<Row> data) {
    lease.check();
    EpochReport report;
    try {
      runner.run(epoch, data);
    } finally {
      report = metrics.epochEnded(epoch, runner.takeReports());
    }
    if (!report.isOfOneRun()) {
      throw new IllegalStateException(
          "Epoch " + epoch + " of pipeline " + pipelineName + " is not committed: tasks were run again,"
              + " as after the loss of an executor, when another level had read what they wrote before."
              + " The epoch is to be run again as a whole.");
    }
    lease.check();
    runner.usedAttempts().epochDone(report);
    progress.epochDone(report);
    control.epochDone(report);
  }

  @Override
  public Map<String, String> metrics() {
    return progress.stepMetrics();
  }

  @Override
  public String name() {
    return pipelineName;
  }

  @Override
  public String toString() {
    return "Beam pipeline " + pipelineName;
  }
}
