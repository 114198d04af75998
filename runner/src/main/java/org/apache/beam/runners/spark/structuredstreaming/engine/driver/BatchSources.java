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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.engine.batch.ReadPartition;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.translation.BoundedReadSource;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.SourceSize;
import org.apache.beam.runners.spark.structuredstreaming.translation.Step;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.metrics.MetricsEnvironment;
import org.apache.beam.sdk.options.PipelineOptions;

/**
 * Splits the sources of a batch pipeline, on the driver, and says into how many partitions what comes
 * out of them is to be divided.
 *
 * <pre>
 * splits of a source = max(cores, its estimated size / bundle size),
 *                      but at most {@value #MOST_SPLITS_PER_CORE} a core
 * partitions         = max(cores, estimated size of all sources / bundle size),
 *                      but at most {@value #MOST_PARTITIONS_PER_CORE} a core
 * </pre>
 *
 * <p>{@code --sourceSplits} and {@code --parallelism} are taken instead where they are set. A source
 * that falls into more parts, as one of very many files does, has several in a split. The size of a
 * source that does not know its own is taken as nothing.
 */
final class BatchSources {
  private static final int MOST_SPLITS_PER_CORE = 64;

  /** Fewer than splits: every task of a level writes to every partition of the next. */
  private static final int MOST_PARTITIONS_PER_CORE = 16;

  private final SparkStructuredStreamingPipelineOptions options;
  private final PipelineMetrics metrics;
  private final int cores;
  // By the sources' numbers; 0 where the size is not known.
  private final long[] sizes;

  private BatchSources(
      SparkStructuredStreamingPipelineOptions options,
      PipelineMetrics metrics,
      int cores,
      int sources) {
    this.options = options;
    this.metrics = metrics;
    this.cores = Math.max(1, cores);
    this.sizes = new long[sources];
  }

  /** The sources of a plan, each of which is asked for its size. */
  static BatchSources of(
      Plan plan,
      SparkStructuredStreamingPipelineOptions options,
      PipelineMetrics metrics,
      int cores) {
    BatchSources sources = new BatchSources(options, metrics, cores, plan.sources().size());
    plan.sources().forEach(sources::measure);
    return sources;
  }

  /** Partitions of the keyed steps of the plan. */
  int partitions() {
    int set = options.getParallelism();
    return set > 0
        ? set
        : Math.min(TaskCounts.MOST_PARTITIONS, bundles(totalBytes(), MOST_PARTITIONS_PER_CORE));
  }

  /** The estimated size of all sources together. */
  long totalBytes() {
    return Arrays.stream(sizes).reduce(0, SourceSize::sum);
  }

  /**
   * The splits of all sources of a level.
   *
   * @param first the number of the first among the level's partitions
   */
  List<ReadPartition> split(Level level, int first) {
    List<ReadPartition> partitions = new ArrayList<>();
    for (Step root : level.roots()) {
      if (root instanceof ReadStep source) {
        for (UnboundedSource<?, ?> split : split(source)) {
          partitions.add(new ReadPartition(first + partitions.size(), source.sourceIndex(), split));
        }
      }
    }
    return partitions;
  }

  private void measure(ReadStep source) {
    inMetricsOf(
        source,
        "asking for the size of",
        () -> {
          if (source.source() instanceof BoundedReadSource<?> bounded) {
            sizes[source.sourceIndex()] = bounded.sizeBytes(options);
          }
          return null;
        });
  }

  private List<? extends UnboundedSource<?, ?>> split(ReadStep source) {
    return inMetricsOf(
        source,
        "splitting",
        () -> source.source().split(desiredSplits(source), options.as(PipelineOptions.class)));
  }

  /** Calls a source, which may count, and may fail. */
  private <T> T inMetricsOf(ReadStep source, String doing, Callable<T> call) {
    MetricsContainer outer =
        MetricsEnvironment.setCurrentContainer(metrics.driverContainer(source.fullName()));
    try {
      return call.call();
    } catch (Exception | LinkageError | StackOverflowError e) {
      throw new StepFailedException(source.fullName(), doing + " " + source.source(), e);
    } finally {
      MetricsEnvironment.setCurrentContainer(outer);
    }
  }

  private int desiredSplits(ReadStep source) {
    if (options.getSourceSplits() > 0) {
      return options.getSourceSplits();
    }
    return source.source() instanceof BoundedReadSource<?>
        ? bundles(sizes[source.sourceIndex()], MOST_SPLITS_PER_CORE)
        : 1;
  }

  private int bundles(long bytes, int mostPerCore) {
    long bundles = bytes / options.getBundleSizeBytes();
    return (int) Math.min((long) cores * mostPerCore, Math.max(cores, bundles));
  }
}
