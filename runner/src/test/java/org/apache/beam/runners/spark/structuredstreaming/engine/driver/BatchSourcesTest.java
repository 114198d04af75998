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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.engine.batch.ReadPartition;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanTranslator;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many splits and partitions a batch pipeline has. */
class BatchSourcesTest {
  private static final int CORES = 4;
  private static final long BUNDLE = 64L << 20;
  private static final long NUMBERS_OF_BUNDLE = BUNDLE / Long.BYTES;

  /** What was made of a pipeline with a sequence of each length. */
  private record Split(List<ReadPartition> splits, int partitions) {
    static Split of(List<Long> lengths, String... arguments) {
      SparkStructuredStreamingPipelineOptions options =
          PipelineOptionsFactory.fromArgs(arguments)
              .as(SparkStructuredStreamingPipelineOptions.class);
      Pipeline pipeline = Pipeline.create(options);
      PCollectionList<Long> all = PCollectionList.empty(pipeline);
      for (long length : lengths) {
        PCollection<Long> numbers =
            pipeline.apply("Read" + all.size(), GenerateSequence.from(0).to(length));
        all = all.and(numbers);
      }
      all.apply(Flatten.pCollections());
      Plan plan = PlanTranslator.translate(pipeline, options, false);
      BatchSources sources = BatchSources.of(plan, options, new PipelineMetrics(), CORES);
      List<ReadPartition> splits = new ArrayList<>();
      for (Level level : plan.levels()) {
        splits.addAll(sources.split(level, splits.size()));
      }
      return new Split(splits, sources.partitions());
    }
  }

  @Test
  void aSmallInputHasAPartitionForEachCore() {
    assertThat(Split.of(List.of(1000L)).partitions(), is(CORES));
    assertThat(Split.of(List.of(CORES * NUMBERS_OF_BUNDLE)).partitions(), is(CORES));
  }

  @Test
  void aLargeInputHasAPartitionForEachBundleOfAllSources() {
    assertThat(Split.of(List.of(10 * NUMBERS_OF_BUNDLE)).partitions(), is(10));
    assertThat(
        Split.of(List.of(10 * NUMBERS_OF_BUNDLE, 6 * NUMBERS_OF_BUNDLE)).partitions(), is(16));
    assertThat(
        Split.of(List.of(10 * NUMBERS_OF_BUNDLE), "--bundleSizeBytes=" + BUNDLE / 2).partitions(),
        is(20));
  }

  @Test
  void partitionsAreBoundedByCores() {
    assertThat(Split.of(List.of(100_000 * NUMBERS_OF_BUNDLE)).partitions(), is(16 * CORES));
  }

  @Test
  void whatIsAskedForIsTaken() {
    assertThat(
        Split.of(List.of(100 * NUMBERS_OF_BUNDLE), "--parallelism=3").partitions(), is(3));
    Split asked = Split.of(List.of(100 * NUMBERS_OF_BUNDLE), "--sourceSplits=5");
    assertThat(asked.splits(), hasSize(5));
    assertThat(asked.partitions(), is(16 * CORES));
  }

  /** Their sizes are no numbers of 64 bits, nor is the sum of them. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void sequencesWithoutEndHaveFewSplits() {
    Split split = Split.of(List.of(Long.MAX_VALUE / 2, Long.MAX_VALUE - 7, 10L));
    assertThat(split.splits().size(), lessThanOrEqualTo(3 * 64 * CORES));
    assertThat(split.partitions(), is(16 * CORES));
  }
}
