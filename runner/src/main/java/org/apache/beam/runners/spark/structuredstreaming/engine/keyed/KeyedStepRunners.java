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

import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LevelGraph;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.CombineStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.DeduplicateStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.GroupByKeyStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.RedistributeStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.SideInputParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.SplittableParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.StableInputStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.StatefulParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Step;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.windowing.DefaultTrigger;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.transforms.windowing.Window.ClosingBehavior;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.apache.beam.sdk.values.WindowingStrategy.AccumulationMode;
import org.joda.time.Duration;

/** Chooses and makes the runner of a keyed step. */
public final class KeyedStepRunners {
  private KeyedStepRunners() {}

  /**
   * The runner of {@code root} for one epoch.
   *
   * @param rows of the level and partition, null if no step of the level has state
   * @param sideInputs the level's views; that of a view step is added to them
   * @param time the epoch's processing time
   */
  public static KeyedStepRunner create(
      Step root,
      LevelGraph graph,
      StateRows rows,
      PipelineOptions options,
      SideInputs sideInputs,
      EpochTime time) {
    KeyedStep step = (KeyedStep) root;
    MetricsContainerImpl container = graph.metrics().container(step.fullName());
    if (step instanceof RedistributeStep) {
      return passingOn(step, graph);
    }
    StepRows stepRows = new StepRows(rows, step.stableId(), step.fullName());
    if (step instanceof ViewStep view) {
      ViewRunner runner =
          new ViewRunner(
              view, container, stepRows, sideInputs.materialized(), time.millis());
      sideInputs.add(runner);
      return runner;
    }
    if (step instanceof DeduplicateStep deduplicate) {
      long retention =
          options.as(SparkStructuredStreamingPipelineOptions.class).getRecordIdRetentionMillis();
      return new DeduplicateRunner(
          deduplicate,
          graph.receiver(step.output()),
          container,
          stepRows,
          time.millis(),
          retention);
    }
    if (step instanceof StableInputStep stable) {
      return new StableInputRunner(
          stable, graph.receiver(step.output()), container, stepRows, time.millis());
    }
    if (step instanceof SplittableParDoStep parDo) {
      TurnBudget budget =
          TurnBudget.of(
              options.as(SparkStructuredStreamingPipelineOptions.class), graph.parallelism());
      return new SplittableParDoRunner(
          parDo,
          graph.doFn(parDo),
          container,
          stepRows,
          options,
          sideInputs,
          time,
          budget);
    }
    if (step instanceof StatefulParDoStep parDo) {
      return new StatefulParDoRunner(
          parDo, graph.doFn(parDo), container, stepRows, sideInputs, time);
    }
    if (step instanceof SideInputParDoStep parDo) {
      return new SideInputParDoRunner(
          parDo, graph.doFn(parDo), container, stepRows, sideInputs, time.millis());
    }
    ElementReceiver output = graph.receiver(step.output());
    if (!isWindowMajor(step)) {
      return new ReduceFnStepRunner(
          step, output, container, stepRows, options, time);
    }
    return windowMajor(step, output, container, stepRows, time.millis());
  }

  /** A runner that passes on what a redistribution sends to {@code step}. */
  public static KeyedStepRunner passingOn(KeyedStep step, LevelGraph graph) {
    return new RedistributeRunner(
        step, graph.receiver(step.output()), graph.metrics().container(step.fullName()));
  }

  /**
   * Whether a step gives one pane for each key and window, whatever its elements, if the watermark
   * goes from the beginning to the end of time behind them.
   */
  public static boolean givesOnePane(KeyedStep step) {
    WindowingStrategy<?, ?> windowing = step.windowingStrategy();
    return (step instanceof GroupByKeyStep || (step instanceof CombineStep combine && combine.lifted()))
        && windowing.getTrigger() instanceof DefaultTrigger
        && !windowing.needsMerge();
  }

  static KeyedStepRunner windowMajor(
      KeyedStep step,
      ElementReceiver output,
      MetricsContainerImpl container,
      StepRows rows,
      long processingTimeMillis) {
    if (step instanceof GroupByKeyStep group) {
      GroupingPanes panes = new GroupingPanes(group, rows);
      return new WindowMajorRunner<>(step, output, container, rows, panes, processingTimeMillis);
    }
    CombiningPanes panes = new CombiningPanes((CombineStep) step);
    return new WindowMajorRunner<>(step, output, container, rows, panes, processingTimeMillis);
  }

  /** Whether windows alone say when panes are due: see {@link WindowMajorRunner}. */
  static boolean isWindowMajor(KeyedStep step) {
    WindowingStrategy<?, ?> windowing = step.windowingStrategy();
    boolean onePane =
        windowing.getAllowedLateness().isEqual(Duration.ZERO)
            || (windowing.getMode() == AccumulationMode.DISCARDING_FIRED_PANES
                && windowing.getClosingBehavior() == ClosingBehavior.FIRE_IF_NON_EMPTY);
    return windowing.getTrigger() instanceof DefaultTrigger
        && !windowing.needsMerge()
        && windowing.getTimestampCombiner() != TimestampCombiner.LATEST
        && onePane
        && !(step instanceof CombineStep combine && !combine.lifted());
  }
}
