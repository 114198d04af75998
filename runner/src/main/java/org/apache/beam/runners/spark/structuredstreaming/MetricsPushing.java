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

import java.time.Duration;
import org.apache.beam.runners.core.metrics.NoOpMetricsSink;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.RunningPipeline;
import org.apache.beam.sdk.metrics.MetricQueryResults;
import org.apache.beam.sdk.metrics.MetricsOptions;
import org.apache.beam.sdk.metrics.MetricsSink;
import org.apache.beam.sdk.util.InstanceBuilder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pushes the metrics of a pipeline to the sink that {@link MetricsOptions} name, every {@code
 * metricsPushPeriod} seconds and once more when the pipeline has ended. What a sink throws is logged
 * and harms nothing else.
 *
 * <p>Runners-core's MetricsPusher is not used for this: it pushes attempted values only, and leaves a
 * thread behind for every pipeline.
 */
final class MetricsPushing implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(MetricsPushing.class);

  private final RunningPipeline pipeline;
  private final MetricsSink sink;
  private final Duration period;

  private MetricsPushing(RunningPipeline pipeline, MetricsSink sink, Duration period) {
    this.pipeline = pipeline;
    this.sink = sink;
    this.period = period;
  }

  /** The sink that the options name, null if none; called before the pipeline is started. */
  static MetricsSink sink(MetricsOptions options) {
    if (options.getMetricsSink() == null || options.getMetricsSink() == NoOpMetricsSink.class) {
      return null;
    }
    if (options.getMetricsPushPeriod() < 1) {
      throw new IllegalArgumentException(
          "--metricsPushPeriod must be at least 1 second, it is " + options.getMetricsPushPeriod());
    }
    return InstanceBuilder.ofType(MetricsSink.class)
        .fromClass(options.getMetricsSink())
        .withArg(MetricsOptions.class, options)
        .build();
  }

  /** Begins to push, on a thread of its own that ends with the pipeline. */
  static void start(RunningPipeline pipeline, MetricsSink sink, MetricsOptions options) {
    Duration period = Duration.ofSeconds(options.getMetricsPushPeriod());
    Thread thread =
        new Thread(
            new MetricsPushing(pipeline, sink, period), "beam-metrics-" + pipeline.name());
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void run() {
    try {
      while (pipeline.awaitEnd(period) == null) {
        push();
      }
      push();
    } catch (InterruptedException e) {
      LOG.info("The metrics of {} are pushed no more: interrupted", pipeline.name(), e);
      Thread.currentThread().interrupt();
    }
  }

  private void push() {
    try {
      MetricQueryResults metrics = pipeline.metrics().results().allMetrics();
      sink.writeMetrics(metrics);
    } catch (Exception e) {
      LOG.warn(
          "{} cannot take the metrics of {}; the next push is in {}",
          sink.getClass().getName(),
          pipeline.name(),
          period,
          e);
    }
  }
}
