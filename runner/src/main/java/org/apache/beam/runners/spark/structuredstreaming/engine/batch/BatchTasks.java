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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.io.Serializable;
import java.util.UUID;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ShuffleLayout;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EngineRuntime;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EngineSetup;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.LevelTask;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.ReportAccumulator;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.TaskAddress;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import scala.Product2;
import scala.collection.Iterator;

/** Makes the tasks of a batch pipeline, on the executors. All it does is one epoch, number 0. */
public final class BatchTasks implements Serializable {
  private final Broadcast<EngineSetup> setup;
  private final ReportAccumulator reports;
  private final UUID runId;
  private final long startMillis;
  private final int parallelism;

  /**
   * @param startMillis when the pipeline was started
   */
  public BatchTasks(
      Broadcast<EngineSetup> setup, ReportAccumulator reports, UUID runId, long startMillis) {
    this.setup = setup;
    this.reports = reports;
    this.runId = runId;
    this.startMillis = startMillis;
    this.parallelism = setup.value().parallelism();
  }

  /** Partitions of the keyed steps of a level. */
  public int parallelism() {
    return parallelism;
  }

  ShuffleLayout layout() {
    return EngineRuntime.of(setup.value()).layout();
  }

  LevelTask readTask(int level, ReadPartition split, TaskContext context, ViewBlocks views) {
    EngineRuntime runtime = EngineRuntime.of(setup.value());
    TaskAddress address = address(level, split.index());
    return new ReadTask(address, runtime, context, reports, split, views).start();
  }

  LevelTask groupTask(
      int level,
      int partition,
      TaskContext context,
      Iterator<Product2<Object, Object>> blocks,
      ViewBlocks views) {
    EngineRuntime runtime = EngineRuntime.of(setup.value());
    TaskAddress address = address(level, partition);
    return new GroupTask(address, runtime, context, reports, blocks, views).start();
  }

  private TaskAddress address(int level, int partition) {
    return new TaskAddress(0, level, partition, runId, startMillis, false);
  }
}
