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

import java.util.regex.Pattern;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.TaskCounts;

/** Checks the values of options that Beam's own validation knows nothing of. */
final class OptionsValidator {
  /** The masters of Spark's own; those of cluster managers that are plugged in have a scheme. */
  private static final Pattern MASTER =
      Pattern.compile(
          "local|local\\[\\s*([0-9]+|\\*)\\s*(,\\s*[0-9]+\\s*)?]"
              + "|local-cluster\\[(\\s*[0-9]+\\s*,){2}\\s*[0-9]+\\s*]|yarn|[a-z][a-z0-9+.-]*://.+");

  private OptionsValidator() {}

  /**
   * @throws IllegalArgumentException naming the first option whose value makes no sense
   */
  static void validate(SparkStructuredStreamingPipelineOptions options) {
    atLeast("maxBatchDurationMillis", options.getMaxBatchDurationMillis(), 1);
    atLeast("triggerIntervalMillis", options.getTriggerIntervalMillis(), 0);
    atLeast("maxIdlePauseMillis", options.getMaxIdlePauseMillis(), 1);
    atLeast("cancelTimeoutMillis", options.getCancelTimeoutMillis(), 0);
    atLeast("readerIdleTimeoutMillis", options.getReaderIdleTimeoutMillis(), 1);
    atLeast("recordIdRetentionMillis", options.getRecordIdRetentionMillis(), 1);
    between("parallelism", options.getParallelism(), 0, TaskCounts.MOST_PARTITIONS);
    between("sourceSplits", options.getSourceSplits(), 0, TaskCounts.MOST_PARTITIONS);
    atLeast("sideInputMemoryBytes", options.getSideInputMemoryBytes(), 0);
    atLeast("bundleSizeBytes", options.getBundleSizeBytes(), 1);
    atLeast("checkpointLeaseMillis", options.getCheckpointLeaseMillis(), 100);
    atLeast("maxRestarts", options.getMaxRestarts(), 0);
    atLeast("restartBackoffMillis", options.getRestartBackoffMillis(), 0);
    validateScaling(options);
    if (options.getMaxRecordsPerMicroBatch() == null) {
      throw missing("maxRecordsPerMicroBatch");
    }
    if (options.getReaderIdleTimeoutMillis() <= options.getTriggerIntervalMillis()) {
      throw new IllegalArgumentException(
          "--readerIdleTimeoutMillis=" + options.getReaderIdleTimeoutMillis()
              + " must exceed --triggerIntervalMillis=" + options.getTriggerIntervalMillis()
              + ": readers would be closed between two epochs that use them.");
    }
    if (!options.getUseActiveSparkSession()
        && (options.getSparkMaster() == null || options.getSparkMaster().isBlank())) {
      throw new IllegalArgumentException(
          "--sparkMaster is empty: name a Spark master, such as local[*], or set"
              + " --useActiveSparkSession.");
    }
    if (!options.getUseActiveSparkSession() && !MASTER.matcher(options.getSparkMaster()).matches()) {
      throw new IllegalArgumentException(
          "--sparkMaster=" + options.getSparkMaster()
              + " is no master that Spark knows: give one such as local[*], local[2], yarn,"
              + " spark://host:7077 or k8s://https://host:6443.");
    }
    if (options.getCheckpointDir() != null && options.getCheckpointDir().isBlank()) {
      throw new IllegalArgumentException(
          "--checkpointDir is empty: name a directory, or leave the option out for a temporary one on"
              + " a local master.");
    }
    if (options.isDrain() && options.getCheckpointDir() == null) {
      throw new IllegalArgumentException(
          "--drain=true without --checkpointDir: name the checkpoint of the pipeline to drain.");
    }
  }

  private static void validateScaling(SparkStructuredStreamingPipelineOptions options) {
    atLeast(
        "dynamicAllocationScalingIntervalMillis",
        options.getDynamicAllocationScalingIntervalMillis(),
        1);
    atLeast("dynamicAllocationMinExecutors", options.getDynamicAllocationMinExecutors(), 1);
    atLeast("dynamicAllocationMaxExecutors", options.getDynamicAllocationMaxExecutors(), 1);
    if (options.getDynamicAllocationMaxExecutors() < options.getDynamicAllocationMinExecutors()) {
      throw new IllegalArgumentException(
          "--dynamicAllocationMaxExecutors=" + options.getDynamicAllocationMaxExecutors()
              + " must be at least --dynamicAllocationMinExecutors="
              + options.getDynamicAllocationMinExecutors() + ".");
    }
    ratio("dynamicAllocationScalingUpRatio", options.getDynamicAllocationScalingUpRatio());
    ratio("dynamicAllocationScalingDownRatio", options.getDynamicAllocationScalingDownRatio());
    if (options.getDynamicAllocationScalingUpRatio()
        <= options.getDynamicAllocationScalingDownRatio()) {
      throw new IllegalArgumentException(
          "--dynamicAllocationScalingUpRatio=" + options.getDynamicAllocationScalingUpRatio()
              + " must exceed --dynamicAllocationScalingDownRatio="
              + options.getDynamicAllocationScalingDownRatio()
              + ", best by more than twice: half of the executors may have twice the load.");
    }
    if (options.isDynamicAllocation() && options.getTriggerIntervalMillis() == 0) {
      throw new IllegalArgumentException(
          "--dynamicAllocation=true needs --triggerIntervalMillis: the load is the processing time of"
              + " epochs over that interval, and epochs that begin as soon as possible have none. Set it"
              + " to the milliseconds that an epoch may take, such as 1000.");
    }
    if (options.isDynamicAllocation()
        && options.getMaxBatchDurationMillis() < options.getTriggerIntervalMillis()) {
      throw new IllegalArgumentException(
          "--dynamicAllocation=true needs a --maxBatchDurationMillis of at least --triggerIntervalMillis="
              + options.getTriggerIntervalMillis() + ", and it is "
              + options.getMaxBatchDurationMillis() + ": epochs that are kept shorter than their"
              + " interval show little load, whatever the backlog is.");
    }
  }

  private static void ratio(String name, Double value) {
    if (value == null) {
      throw missing(name);
    }
    if (!(value > 0 && value < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("--" + name + "=" + value + " must be greater than 0.");
    }
  }

  private static void atLeast(String name, Number value, long least) {
    if (value == null) {
      throw missing(name);
    }
    if (value.longValue() < least) {
      throw new IllegalArgumentException("--" + name + "=" + value + " must be at least " + least + ".");
    }
  }

  private static void between(String name, Number value, long least, long most) {
    atLeast(name, value, least);
    if (value.longValue() > most) {
      throw new IllegalArgumentException(
          "--" + name + "=" + value + " must be at most " + most
              + ": each is a task of its own in every epoch. A few for every core are enough.");
    }
  }

  private static IllegalArgumentException missing(String name) {
    return new IllegalArgumentException("--" + name + " must have a value.");
  }
}
