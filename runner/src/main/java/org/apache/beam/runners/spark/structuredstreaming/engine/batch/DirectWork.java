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

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.TaskMetrics;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.KeyedStepRunner;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.Work;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;

/** Gives every record to a runner as it comes, which passes it on. */
final class DirectWork implements RootWork {
  private final KeyedStepRunner runner;
  private final TaskMetrics metrics;

  DirectWork(KeyedStepRunner runner, TaskMetrics metrics) {
    this.runner = runner;
    this.metrics = metrics;
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    runner.receive(record);
  }

  @Override
  public Work group(SortedGroups groups) {
    throw new IllegalStateException(runner.step().fullName() + " has sorted nothing");
  }

  @Override
  public void finish() {
    for (PlanCollection output : runner.step().outputs()) {
      runner.countElements(output, metrics);
    }
  }
}
