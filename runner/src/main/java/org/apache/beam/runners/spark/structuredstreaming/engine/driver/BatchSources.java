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
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.engine.batch.ReadPartition;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.translation.BoundedReadSource;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Step;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.metrics.MetricsEnvironment;
import org.apache.beam.sdk.options.PipelineOptions;

/**
 * Splits the sources of a batch pipeline, on the driver.
 *
 * <pre>
 * splits = max(cores, estimated size / bundle size), but at most {@value #MOST_SPLITS_PER_CORE} a core
 * </pre>
 *
 * <p>A source that falls into more parts, as one of very many files does, has several in a split. The
 * size of a source that does not know its own is taken as nothing.
 */
final class BatchSources {
  private static final int MOST_SPLITS_PER_CORE = 64;

  private final SparkStructuredStreamingPipelineOptions options;
  private final PipelineMetrics metrics;
  private final int cores;

  BatchSources(
      SparkStructuredStreamingPipelineOptions options, PipelineMetrics metrics, int cores) {
    this.options = options;
    this.metrics = metrics;
    this.cores = Math.max(1, cores);
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

  private List<? extends UnboundedSource<?, ?>> split(ReadStep source) {
    MetricsContainer outer =
        MetricsEnvironment.setCurrentContainer(metrics.driverContainer(source.fullName()));
    try {
      List<? extends UnboundedSource<?, ?>> splits =
          source.source().split(desiredSplits(source), options.as(PipelineOptions.class));
      return splits.isEmpty() ? List.of(source.source()) : splits;
    } catch (Exception | LinkageError | StackOverflowError e) {
      throw new StepFailedException(source.fullName(), "splitting " + source.source(), e);
    } finally {
      MetricsEnvironment.setCurrentContainer(outer);
    }
  }

  private int desiredSplits(ReadStep source) throws Exception {
    if (options.getSourceSplits() > 0) {
      return options.getSourceSplits();
    }
    if (!(source.source() instanceof BoundedReadSource<?> bounded)) {
      return 1;
    }
    long size = Math.max(0, bounded.boundedSource().getEstimatedSizeBytes(options));
    long bundles = size / options.getBundleSizeBytes();
    return (int) Math.min((long) cores * MOST_SPLITS_PER_CORE, Math.max(cores, bundles));
  }
}
