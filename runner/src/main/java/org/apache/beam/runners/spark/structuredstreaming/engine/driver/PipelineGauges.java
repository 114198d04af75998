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

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.function.ToLongFunction;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling.ExecutorScaling;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.SplittableParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Step;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.source.Source;

/**
 * The progress of a running pipeline among Spark's own metrics, for whatever sink Spark is
 * configured with: {@code <application>.driver.beam.<job name>.pipeline.<gauge>}, where a gauge is
 *
 * <ul>
 *   <li>{@code epoch}: the last one that has ended, -1 if none has;
 *   <li>{@code source.<full name>.} with rows, watermarkMillis, backlogBytes (-1: unknown);
 *   <li>{@code step.<full name>.} with inputWatermarkMillis, outputWatermarkMillis, rowsIn, rowsOut,
 *       lateRows, stateRows, stateBytes, timeMillis; of a splittable DoFn backlog (-1: unknown).
 * </ul>
 *
 * <p>All are of the last epoch, and null before the first. Dots in names become underscores, as dots
 * divide the parts of a metric's name.
 */
final class PipelineGauges implements Source {
  private final String sourceName;
  private final PipelineProgress progress;
  private final MetricRegistry registry = new MetricRegistry();

  PipelineGauges(String pipelineName, Plan plan, PipelineProgress progress) {
    // The end keeps Spark, which removes by prefix, from removing what another name begins with.
    this.sourceName = "beam." + part(pipelineName) + ".pipeline";
    this.progress = progress;
    registry.register("epoch", (Gauge<Long>) progress::epoch);
    for (ReadStep source : plan.sources()) {
      ofSource(source, "rows", SourceProgress::rows);
      ofSource(source, "watermarkMillis", SourceProgress::watermarkMillis);
      ofSource(source, "backlogBytes", SourceProgress::backlogBytes);
    }
    for (Step step : plan.steps()) {
      if (step instanceof KeyedStep) {
        ofStep(step, "inputWatermarkMillis", StepProgress::inputWatermarkMillis);
        ofStep(step, "outputWatermarkMillis", StepProgress::outputWatermarkMillis);
        ofStep(step, "rowsIn", StepProgress::rowsIn);
        ofStep(step, "rowsOut", StepProgress::rowsOut);
        ofStep(step, "lateRows", StepProgress::lateRows);
        ofStep(step, "stateRows", StepProgress::stateRows);
        ofStep(step, "stateBytes", StepProgress::stateBytes);
        ofStep(step, "timeMillis", StepProgress::timeMillis);
      }
      if (step instanceof SplittableParDoStep) {
        ofStep(step, "backlog", StepProgress::backlog);
      }
    }
  }

  /** Adds how many executors the pipeline has and what its load was last, before {@link #register}. */
  void ofScaling(ExecutorScaling scaling) {
    registry.register("executors", (Gauge<Integer>) scaling::executors);
    registry.register("load", (Gauge<Double>) scaling::load);
  }

  /** Shows the gauges in this driver's metrics system. */
  void register() {
    SparkEnv.get().metricsSystem().registerSource(this);
  }

  /** Takes the gauges away; does nothing once Spark has ended. */
  void remove() {
    SparkEnv environment = SparkEnv.get();
    if (environment != null) {
      environment.metricsSystem().removeSource(this);
    }
  }

  @Override
  public String sourceName() {
    return sourceName;
  }

  @Override
  public MetricRegistry metricRegistry() {
    return registry;
  }

  private void ofSource(ReadStep source, String name, ToLongFunction<SourceProgress> number) {
    registry.register(
        "source." + part(source.fullName()) + "." + name,
        (Gauge<Long>)
            () -> {
              SourceProgress last = progress.source(source.sourceIndex());
              return last == null ? null : number.applyAsLong(last);
            });
  }

  private void ofStep(Step step, String name, ToLongFunction<StepProgress> number) {
    registry.register(
        "step." + part(step.fullName()) + "." + name,
        (Gauge<Long>)
            () -> {
              StepProgress last = progress.step(step.index());
              return last == null ? null : number.applyAsLong(last);
            });
  }

  private static String part(String name) {
    return name.replace('.', '_');
  }
}
