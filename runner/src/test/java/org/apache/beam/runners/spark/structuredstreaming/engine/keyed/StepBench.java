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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LevelGraph;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.Block;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.CountingStateRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import org.apache.beam.runners.spark.structuredstreaming.translation.ImpulseSource;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.values.WindowedValue;

/** Runs one keyed step in one partition, epoch after epoch, as tasks would. */
final class StepBench {
  /** Makes the step's runner for an epoch. */
  @FunctionalInterface
  interface RunnerFactory {
    KeyedStepRunner create(
        ElementReceiver output,
        MetricsContainerImpl container,
        StepRows rows,
        long processingTimeMillis);
  }

  /** What an epoch brought. */
  record Epoch(List<WindowedValue<Object>> output, long outputWatermark, StepStatistics statistics) {
    List<Object> values() {
      List<Object> values = new ArrayList<>();
      output.forEach(element -> values.add(element.getValue()));
      return values;
    }
  }

  private final KeyedStep step;
  private final RunnerFactory factory;
  private final LevelGraph sender;
  private final CountingStateRows rows = new CountingStateRows();

  /**
   * A bench of a step with index 1 that stands on level 1, whose input has index 0 and whose outputs
   * have the indexes that follow.
   */
  StepBench(KeyedStep step, RunnerFactory factory) {
    this.step = step;
    this.factory = factory;
    ReadStep read = new ReadStep(0, "Read", 0, 0, new ImpulseSource(), step.input());
    Edge edge = new Edge(0, 0, step.input(), step);
    Level sending = new Level(0, List.of(read), List.of(), List.of(edge), List.of());
    Level receiving = new Level(1, List.of(step), List.of(), List.of(), List.of(edge));
    Plan plan =
        new Plan(
            List.of(step.input(), step.output()),
            List.of(read, step),
            List.of(sending, receiving),
            List.of(edge),
            List.of(read),
            true);
    this.sender = LevelGraph.create(plan, sending, PipelineOptionsFactory.create(), 1, 0);
  }

  /** Rows that the step has, its totals included. */
  int rows() {
    return rows.size();
  }

  Epoch run(long processingTimeMillis, long watermarkMillis, List<WindowedValue<Object>> elements)
      throws IOException {
    List<WindowedValue<Object>> output = new ArrayList<>();
    KeyedStepRunner runner =
        factory.create(
            output::add,
            new MetricsContainerImpl(step.fullName()),
            new StepRows(rows, step.stableId(), step.fullName()),
            processingTimeMillis);
    RecordInput record = new RecordInput(1);
    for (Block block : send(elements)) {
      record.reset(block);
      while (record.next()) {
        if (record.isControl()) {
          record.bytes().readLong();
        } else {
          runner.receive(record);
        }
      }
    }
    runner.endOfElements().complete();
    runner.advanceWatermark(watermarkMillis).complete();
    return new Epoch(output, runner.finish(), runner.statistics());
  }

  private List<Block> send(List<WindowedValue<Object>> elements) {
    sender.startEpoch();
    elements.forEach(sender.receiver(step.input())::accept);
    sender.finishBundles();
    sender.finishEpoch();
    List<Block> blocks = new ArrayList<>();
    while (sender.output().hasReady()) {
      Block block = (Block) sender.output().poll()._2();
      blocks.add(new Block(Arrays.copyOf(block.bytes(), block.length()), block.length()));
    }
    return blocks;
  }
}
