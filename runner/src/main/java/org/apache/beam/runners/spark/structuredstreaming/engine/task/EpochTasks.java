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
package org.apache.beam.runners.spark.structuredstreaming.engine.task;

import java.io.Serializable;
import java.util.Set;
import java.util.UUID;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ShuffleLayout;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.Product2;
import scala.collection.Iterator;

/** Makes the tasks of one epoch, on the executors. */
public final class EpochTasks implements Serializable {
  private final Broadcast<EngineSetup> setup;
  private final ReportAccumulator reports;
  private final long epoch;
  private final UUID queryRunId;
  private final long processingTimeMillis;
  private final boolean draining;
  private final Set<Long> usedAttempts;
  private final int parallelism;
  private final String stateLocation;

  /**
   * @param queryRunId of the query's current start
   * @param processingTimeMillis what the epoch's processing time is, the same for all its tasks
   * @param draining whether the pipeline drains in the epoch
   * @param usedAttempts of the epochs before, the task attempts whose callbacks are to run
   */
  public EpochTasks(
      Broadcast<EngineSetup> setup,
      ReportAccumulator reports,
      long epoch,
      UUID queryRunId,
      long processingTimeMillis,
      boolean draining,
      Set<Long> usedAttempts) {
    this.setup = setup;
    this.reports = reports;
    this.epoch = epoch;
    this.queryRunId = queryRunId;
    this.processingTimeMillis = processingTimeMillis;
    this.draining = draining;
    this.usedAttempts = Set.copyOf(usedAttempts);
    this.parallelism = setup.value().parallelism();
    this.stateLocation = setup.value().state().location();
  }

  /** Partitions of every level but 0. */
  int parallelism() {
    return parallelism;
  }

  ShuffleLayout layout() {
    return EngineRuntime.of(setup.value()).layout();
  }

  String stateLocation() {
    return stateLocation;
  }

  UUID queryRunId() {
    return queryRunId;
  }

  LevelTask sourceTask(int partition, TaskContext context, Iterator<InternalRow> rows) {
    EngineRuntime runtime = runtime();
    return new SourceTask(address(0, partition), runtime, context, reports, rows).start();
  }

  /**
   * A task of a level behind a shuffle, which has started.
   *
   * @param blocks what the shuffles of the lower levels hold for it
   */
  LevelTask keyedTask(
      int level,
      int partition,
      TaskContext context,
      Iterator<Product2<Object, Object>> blocks) {
    EngineRuntime runtime = runtime();
    TaskAddress address = address(level, partition);
    PartitionState state =
        PartitionState.isNeeded(runtime.plan().levels().get(level))
            ? PartitionState.open(address, setup.value(), runtime)
            : null;
    return new KeyedTask(address, runtime, context, reports, blocks, state).start();
  }

  private EngineRuntime runtime() {
    EngineRuntime runtime = EngineRuntime.of(setup.value());
    runtime.epochBegun(epoch, usedAttempts);
    return runtime;
  }

  private TaskAddress address(int level, int partition) {
    return new TaskAddress(epoch, level, partition, queryRunId, processingTimeMillis, draining);
  }
}
