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
package org.apache.beam.runners.spark.structuredstreaming.operations;

import static org.junit.jupiter.api.Assertions.fail;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.metrics.MetricNameFilter;
import org.apache.beam.sdk.metrics.MetricQueryResults;
import org.apache.beam.sdk.metrics.MetricResult;
import org.apache.beam.sdk.metrics.MetricsFilter;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.spark.sql.SparkSession;

/** How tests start pipelines, in one session that they share, and wait for what these do. */
final class Runs {
  static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final AtomicInteger NAMES = new AtomicInteger();

  static {
    System.setProperty("spark.ui.enabled", "false");
  }

  private Runs() {}

  /** Options for the shared session, of a new job name, but for what is given. */
  static SparkStructuredStreamingPipelineOptions options(String... given) {
    Map<String, String> arguments = new LinkedHashMap<>();
    List<String> defaults =
        List.of(
            "--runner=SparkStructuredStreamingRunner",
            "--sparkMaster=local[2]",
            "--testMode=true",
            "--parallelism=1",
            "--sourceSplits=1",
            // An epoch ends when its source has no more, however slow the machine is.
            "--maxBatchDurationMillis=60000",
            "--restartBackoffMillis=1",
            "--jobName=run-" + NAMES.incrementAndGet());
    for (List<String> all : List.of(defaults, List.of(given))) {
      all.forEach(argument -> arguments.put(argument.split("=", 2)[0], argument));
    }
    return PipelineOptionsFactory.fromArgs(arguments.values().toArray(new String[0]))
        .as(SparkStructuredStreamingPipelineOptions.class);
  }

  static SparkStructuredStreamingPipelineResult start(Pipeline pipeline) {
    return (SparkStructuredStreamingPipelineResult) pipeline.run();
  }

  /** The session that the runner keeps between tests. A pipeline has run in it. */
  static SparkSession session() {
    return SparkSession.getDefaultSession().get();
  }

  /** Ends the shared session, for what depends on how a session is made. */
  static void stopSession() {
    if (SparkSession.getDefaultSession().isDefined()) {
      SparkSession.getDefaultSession().get().stop();
    }
  }

  static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        fail("Not within " + PATIENCE + ": " + what);
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** The one counter of a name. */
  static MetricResult<Long> counter(SparkStructuredStreamingPipelineResult result, String name) {
    return metrics(result, name).getCounters().iterator().next();
  }

  static MetricQueryResults metrics(SparkStructuredStreamingPipelineResult result, String name) {
    return result
        .metrics()
        .queryMetrics(
            MetricsFilter.builder().addNameFilter(MetricNameFilter.named("test", name)).build());
  }
}
