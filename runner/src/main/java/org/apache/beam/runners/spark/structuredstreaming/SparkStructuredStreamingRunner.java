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
package org.apache.beam.runners.spark.structuredstreaming;

import org.apache.beam.runners.spark.structuredstreaming.engine.driver.BatchPipeline;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.RunningPipeline;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.StreamingPipeline;
import org.apache.beam.runners.spark.structuredstreaming.translation.EngineChoice;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanTranslator;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineRunner;
import org.apache.beam.sdk.metrics.MetricsEnvironment;
import org.apache.beam.sdk.metrics.MetricsOptions;
import org.apache.beam.sdk.metrics.MetricsSink;
import org.apache.beam.sdk.options.ExperimentalOptions;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsValidator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs Beam pipelines on Spark: unbounded ones on Structured Streaming, bounded ones as batch jobs, see
 * {@link EngineChoice}.
 *
 * <p>{@link #run} checks the options, translates the pipeline, which refuses what cannot be run
 * before anything is started, and starts one streaming query or one batch for it. It returns when
 * that runs.
 */
public final class SparkStructuredStreamingRunner
    extends PipelineRunner<SparkStructuredStreamingPipelineResult> {
  private static final Logger LOG = LoggerFactory.getLogger(SparkStructuredStreamingRunner.class);

  /**
   * KafkaIO reads partitions that appear while the pipeline runs only where this experiment is set, and
   * looks while the pipeline is built. Nothing else of Beam's SDK heeds it in the end: the plan turns
   * every read that can be one of a source into one.
   */
  private static final String SPLITTABLE_DO_FNS = "beam_fn_api";

  private final SparkStructuredStreamingPipelineOptions options;

  private SparkStructuredStreamingRunner(SparkStructuredStreamingPipelineOptions options) {
    this.options = options;
  }

  /**
   * Called by Beam to make the runner that {@code --runner} names, first while a pipeline is created.
   * The options gain an experiment that transforms take for a runner's word that it runs splittable
   * DoFns.
   */
  public static SparkStructuredStreamingRunner fromOptions(PipelineOptions options) {
    SparkStructuredStreamingPipelineOptions checked =
        PipelineOptionsValidator.validate(SparkStructuredStreamingPipelineOptions.class, options);
    OptionsValidator.validate(checked);
    ExperimentalOptions.addExperiment(checked.as(ExperimentalOptions.class), SPLITTABLE_DO_FNS);
    return new SparkStructuredStreamingRunner(checked);
  }

  /**
   * Starts the pipeline.
   *
   * @throws IllegalArgumentException if an option has no sensible value
   * @throws org.apache.beam.runners.spark.structuredstreaming.translation.UnsupportedPipelineException
   *     if the pipeline has something that cannot be run
   * @throws IllegalStateException if a pipeline of the same name or checkpoint directory is running,
   *     or the checkpoint is not this pipeline's
   */
  @Override
  public SparkStructuredStreamingPipelineResult run(Pipeline pipeline) {
    OptionsValidator.validate(options);
    MetricsEnvironment.setMetricsSupported(true);
    EngineChoice choice = EngineChoice.of(pipeline, options);
    LOG.info(
        "Pipeline {} is run by the {} engine: {}",
        options.getJobName(),
        choice.streaming() ? "streaming" : "batch",
        choice.reason());
    if (options.isDrain() && !choice.streaming()) {
      throw new IllegalArgumentException(
          "--drain=true, but the pipeline " + options.getJobName()
              + " is run as batch: it ends by itself. Leave --drain out.");
    }
    if (options.isDynamicAllocation() && !choice.streaming()) {
      LOG.warn(
          "--dynamicAllocation=true has no effect on pipeline {}, which is run as batch; Spark's own"
              + " spark.dynamicAllocation.enabled has",
          options.getJobName());
    }
    Plan plan = PlanTranslator.translate(pipeline, options, choice.streaming());
    MetricsOptions metricsOptions = options.as(MetricsOptions.class);
    MetricsSink metricsSink = MetricsPushing.sink(metricsOptions);
    RunningPipeline running =
        choice.streaming()
            ? StreamingPipeline.start(plan, options)
            : BatchPipeline.start(plan, options);
    if (metricsSink != null) {
      MetricsPushing.start(running, metricsSink, metricsOptions);
    }
    return new SparkStructuredStreamingPipelineResult(running);
  }

  @Override
  public String toString() {
    return "SparkStructuredStreamingRunner";
  }
}
