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

import org.apache.beam.sdk.options.ApplicationNameOptions;
import org.apache.beam.sdk.options.Default;
import org.apache.beam.sdk.options.DefaultValueFactory;
import org.apache.beam.sdk.options.Description;
import org.apache.beam.sdk.options.FileStagingOptions;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.StreamingOptions;

/** Options of the {@link SparkStructuredStreamingRunner}. They are checked when a pipeline is run. */
public interface SparkStructuredStreamingPipelineOptions
    extends PipelineOptions, StreamingOptions, ApplicationNameOptions, FileStagingOptions {

  @Description(
      "Spark master the runner connects to, when it makes the Spark session itself: local[*],"
          + " local-cluster[workers,cores,megabytes], spark://host:port, yarn or k8s://url. A master"
          + " that spark-submit has set wins.")
  @Default.String("local[*]")
  String getSparkMaster();

  void setSparkMaster(String master);

  @Description(
      "Directory that holds everything durable of the pipeline, on a file system that driver and"
          + " executors reach. A pipeline started with the checkpoint of an earlier run goes on where"
          + " that ended. Without it a local directory is made for the run and deleted at its end,"
          + " which works on local masters only.")
  String getCheckpointDir();

  void setCheckpointDir(String directory);

  @Description(
      "Lets a pipeline that is started again with its checkpoint drain at once: its unbounded sources"
          + " read nothing more, what it has taken in is processed, and it ends as DONE. Refused"
          + " without a checkpoint to go on from. A pipeline that was draining when it was stopped"
          + " goes on draining without this.")
  @Default.Boolean(false)
  boolean isDrain();

  void setDrain(boolean drain);

  @Description(
      "Keeps the runner's own Spark session for the next pipeline in this JVM instead of stopping it"
          + " with the last one. For test suites.")
  @Default.Boolean(false)
  boolean isTestMode();

  void setTestMode(boolean testMode);

  @Description(
      "Runs in the Spark session that is active in this JVM, which is never stopped by the runner;"
          + " sparkMaster is ignored then.")
  @Default.Boolean(false)
  boolean getUseActiveSparkSession();

  void setUseActiveSparkSession(boolean useActive);

  @Description(
      "Most records that a source reads in one epoch, divided over its splits; 0 or less for no"
          + " limit.")
  @Default.Long(-1)
  Long getMaxRecordsPerMicroBatch();

  void setMaxRecordsPerMicroBatch(Long records);

  @Description(
      "Milliseconds that an epoch should take, and for which a split is read at most in it. Splits read"
          + " for less where what they read keeps later steps busy, or where there are more of them than"
          + " cores.")
  @Default.Long(1000)
  Long getMaxBatchDurationMillis();

  void setMaxBatchDurationMillis(Long millis);

  @Description(
      "Milliseconds from the start of one epoch to the start of the next; 0 starts the next as soon"
          + " as one is committed.")
  @Default.Long(0)
  Long getTriggerIntervalMillis();

  void setTriggerIntervalMillis(Long millis);

  @Description(
      "Most milliseconds that a pipeline at rest waits before it looks for new data again. It waits a"
          + " sixteenth of the time for which nothing has happened, at least 10 ms and at most this.")
  @Default.Long(5000)
  Long getMaxIdlePauseMillis();

  void setMaxIdlePauseMillis(Long millis);

  @Description(
      "Milliseconds for which cancel() lets the running epoch go on to its commit. Then it is broken"
          + " off: its tasks are interrupted, nothing of it is committed, and it is run again if the"
          + " pipeline is started again with its checkpoint. A batch pipeline is cancelled at once.")
  @Default.Long(10000)
  Long getCancelTimeoutMillis();

  void setCancelTimeoutMillis(Long millis);

  @Description(
      "Milliseconds after which executors close readers and tear down DoFns that no epoch has used."
          + " Must exceed the longest time between two epochs.")
  @Default.Long(300000)
  Long getReaderIdleTimeoutMillis();

  void setReaderIdleTimeoutMillis(Long millis);

  @Description(
      "Partitions that keyed work and its state is divided into. Fixed at the first start of a"
          + " checkpoint; a later value is ignored. 0 for the cores Spark has at that time, in a batch"
          + " pipeline for one per --bundleSizeBytes of its sources if these are more, up to 16 a core;"
          + " at most 10000. Each is a task in every epoch: a few for every core are enough.")
  @Default.Integer(0)
  Integer getParallelism();

  void setParallelism(Integer partitions);

  @Description(
      "Bytes of a bundle that a bounded source is asked for in a batch pipeline. There are at least as"
          + " many bundles as Spark has cores.")
  @Default.Long(67108864)
  Long getBundleSizeBytes();

  void setBundleSizeBytes(Long bytes);

  @Description(
      "Bytes of a side input, encoded, that an executor holds in memory in a batch pipeline; what is"
          + " beyond is read from its disk. What a DoFn reads of it may take a few times as much.")
  @Default.Long(67108864)
  Long getSideInputMemoryBytes();

  void setSideInputMemoryBytes(Long bytes);

  @Description(
      "Splits that a source is asked for at the first start of a checkpoint, or in a batch pipeline; it"
          + " may give more or fewer. 0 for the cores Spark has at that time, in a batch pipeline for"
          + " what --bundleSizeBytes asks for; at most 10000. Each is a task in every epoch: a few for"
          + " every core are enough.")
  @Default.Integer(0)
  Integer getSourceSplits();

  void setSourceSplits(Integer splits);

  @Description(
      "Milliseconds of processing time for which the id of a record is remembered after it was seen"
          + " last, where a source asks the runner to drop records that it gives twice"
          + " (UnboundedSource.requiresDeduping). A record that is given again later is not known as"
          + " a duplicate.")
  @Default.Long(600000)
  Long getRecordIdRetentionMillis();

  void setRecordIdRetentionMillis(Long millis);

  @Description(
      "Milliseconds after which a driver that shows no sign of life counts as having lost its checkpoint;"
          + " another takes it over after twice that time. Only on file systems without locks: on local"
          + " disks the operating system tells at once.")
  @Default.Long(10_000)
  Long getCheckpointLeaseMillis();

  void setCheckpointLeaseMillis(Long millis);

  @Description(
      "How often in a row a failed query is started again from its checkpoint before the pipeline"
          + " fails. The count begins anew only if, since the last restart, an epoch was committed in"
          + " which some source read at least one row.")
  @Default.Integer(2)
  Integer getMaxRestarts();

  void setMaxRestarts(Integer restarts);

  @Description(
      "Milliseconds before the first restart of a failed query; the wait doubles with every further"
          + " one in a row, as maxRestarts counts.")
  @Default.Long(200)
  Long getRestartBackoffMillis();

  void setRestartBackoffMillis(Long millis);

  @Description(
      "Lets a streaming pipeline ask the cluster manager for executors, and release them, by its load:"
          + " the processing time of its epochs over triggerIntervalMillis, which must be set. Has no"
          + " effect where the cluster manager does not start executors on request, as on local[n].")
  @Default.Boolean(false)
  boolean isDynamicAllocation();

  void setDynamicAllocation(boolean dynamicAllocation);

  @Description(
      "Milliseconds over which the load is averaged; then a pipeline with dynamicAllocation decides.")
  @Default.Long(60000)
  Long getDynamicAllocationScalingIntervalMillis();

  void setDynamicAllocationScalingIntervalMillis(Long millis);

  @Description(
      "Load from which on a pipeline with dynamicAllocation asks for more executors: as many as the load"
          + " is, rounded, at least one.")
  @Default.Double(0.9)
  Double getDynamicAllocationScalingUpRatio();

  void setDynamicAllocationScalingUpRatio(Double ratio);

  @Description("Load up to which a pipeline with dynamicAllocation releases an executor.")
  @Default.Double(0.3)
  Double getDynamicAllocationScalingDownRatio();

  void setDynamicAllocationScalingDownRatio(Double ratio);

  @Description("Fewest executors of a pipeline with dynamicAllocation.")
  @Default.Integer(1)
  Integer getDynamicAllocationMinExecutors();

  void setDynamicAllocationMinExecutors(Integer executors);

  @Description(
      "Most executors of a pipeline with dynamicAllocation. More than it has splits of sources or"
          + " partitions of state, divided by the cores of an executor, stay idle.")
  @Default.Integer(Integer.MAX_VALUE)
  Integer getDynamicAllocationMaxExecutors();

  void setDynamicAllocationMaxExecutors(Integer executors);

  @Description(
      "Whether a batch pipeline keeps a line on standard error that says which of its steps are done"
          + " and running. By default it does where this process has a terminal.")
  @Default.InstanceFactory(OnTerminal.class)
  boolean isProgress();

  void setProgress(boolean progress);

  /** Whether somebody can look at this process. */
  class OnTerminal implements DefaultValueFactory<Boolean> {
    @Override
    @SuppressWarnings("SystemConsoleNull") // newer JDKs than 17 answer true: a line too many, no harm
    public Boolean create(PipelineOptions options) {
      return System.console() != null;
    }
  }
}
