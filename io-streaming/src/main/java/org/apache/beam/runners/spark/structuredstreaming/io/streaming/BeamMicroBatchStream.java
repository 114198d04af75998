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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.metrics.MetricsEnvironment;
import org.apache.beam.sdk.metrics.MetricsEnvironment.MetricsEnvironmentState;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.util.SerializableConfiguration;
import org.checkerframework.checker.nullness.qual.Nullable;

/**
 * One Beam source in one run of a streaming query, on the driver. It never reads from the source:
 * its offset counts epochs, and epoch {@code e} goes from offset {@code e} to {@code e + 1}, so it is
 * Spark's batch id too.
 *
 * <p>The source is split once in the life of a checkpoint, when the first epoch is planned; a later
 * start takes the stored splits. Spark plans an epoch several times: planning has no effect but the
 * first time.
 *
 * <p>Its text is the transform's full name, as Spark's progress shows it for the source.
 */
public final class BeamMicroBatchStream
    implements MicroBatchStream, SupportsAdmissionControl, ReportsSourceMetrics {
  private final SourceRegistration registration;
  private @Nullable List<byte[]> splits;
  private @Nullable Broadcast<byte[]> description;
  private @Nullable PartitionReaderFactory readerFactory;
  private boolean stopped;

  BeamMicroBatchStream(SourceRegistration registration) {
    this.registration = registration;
  }

  @Override
  public Offset initialOffset() {
    return new EpochOffset(0);
  }

  @Override
  public Offset deserializeOffset(String json) {
    return EpochOffset.parse(json, registration.fullName());
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return ReadLimit.allAvailable();
  }

  /**
   * The end of the next epoch if the gate lets it start. Otherwise the start itself, which for Spark
   * means no new data; at the very first epoch no offset at all, as Spark would take any first
   * offset for new data.
   */
  @Override
  public @Nullable Offset latestOffset(Offset startOffset, ReadLimit limit) {
    long epoch = epochOf(startOffset);
    if (registration.gate().mayStart(epoch)) {
      return new EpochOffset(epoch + 1);
    }
    return epoch == 0 ? null : startOffset;
  }

  @Override
  public Offset latestOffset() {
    throw new UnsupportedOperationException(
        registration.fullName() + " has no latest offset of its own: Beam sources run under a"
            + " processing-time trigger only.");
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    long epoch = epochOf(start);
    if (epochOf(end) != epoch + 1) {
      throw new IllegalStateException(
          "Spark plans " + registration.fullName() + " from offset " + start.json() + " to "
              + end.json() + ", but an epoch ends one behind its start. The offset log in "
              + registration.checkpointDir() + " is damaged or was written by something else. "
              + DurableFile.WHAT_TO_DO);
    }
    int splitCount = Math.max(1, splits(epoch).size());
    boolean drained = registration.isEndedByDrain() && registration.gate().isDraining(epoch);
    ExecutorPlacement placement = ExecutorPlacement.live();
    InputPartition[] partitions = new InputPartition[splitCount];
    for (int split = 0; split < splitCount; split++) {
      partitions[split] =
          new BeamInputPartition(
              split,
              epoch,
              drained,
              registration.gate().readShare(),
              placement.preferredLocations(registration.stableId(), split));
    }
    return partitions;
  }

  @Override
  public synchronized PartitionReaderFactory createReaderFactory() {
    if (readerFactory == null) {
      if (splits == null || stopped) {
        throw new IllegalStateException(
            registration.fullName() + " is read before its first epoch was planned, or after it was"
                + " stopped.");
      }
      SparkContext spark = SparkSession.active().sparkContext();
      // Local applications are named by their start to the millisecond: not enough on its own.
      String application = spark.applicationId() + "@" + spark.startTime();
      byte[] bytes =
          SerializableUtils.serializeToByteArray(
              new SourceDescription(application, registration, splits, hadoopConfiguration()));
      description = JavaSparkContext.fromSparkContext(spark).broadcast(bytes);
      readerFactory = new BeamPartitionReaderFactory(UUID.randomUUID().toString(), description);
    }
    return readerFactory;
  }

  /** Spark has committed the epoch before {@code end}. */
  @Override
  public void commit(Offset end) {
    registration.gate().epochCommitted(epochOf(end));
  }

  @Override
  public Map<String, String> metrics(Optional<Offset> latestConsumedOffset) {
    return registration.gate().sourceMetrics(registration.sourceIndex());
  }

  /** Called at the end of the query, however it ends. Readers on executors outlive it. */
  @Override
  public synchronized void stop() {
    stopped = true;
    readerFactory = null;
    if (description != null) {
      description.destroy();
      description = null;
    }
  }

  /** The serialized splits: stored ones if there are, else new ones, stored. */
  private synchronized List<byte[]> splits(long epoch) {
    if (splits == null) {
      BeamSourceCheckpoint checkpoint =
          new BeamSourceCheckpoint(
              registration.checkpointDir(),
              registration.stableId(),
              registration.fullName(),
              hadoopConfiguration());
      try {
        List<byte[]> stored = checkpoint.readSplits();
        if (stored == null) {
          if (epoch > 0) {
            throw new IllegalStateException(
                "The splits of " + registration.fullName() + " are missing under "
                    + checkpoint.location() + " although epoch " + epoch + " is about to start: the"
                    + " checkpoint is incomplete. " + DurableFile.WHAT_TO_DO);
          }
          stored = split();
          checkpoint.writeSplits(stored);
        } else {
          checkpoint.purgeMarksBefore(epoch - registration.minEpochsToRetain());
        }
        splits = stored;
      } catch (IOException e) {
        throw new UncheckedIOException(
            "The durable files of " + registration.fullName() + " cannot be used: " + e.getMessage(),
            e);
      }
    }
    return splits;
  }

  /**
   * Calls the source in a thread of its own: one that does not heed its interruption is left behind when
   * the query is to end, and what it gives then comes to nothing.
   */
  private List<byte[]> split() {
    FutureTask<List<byte[]>> splitting = new FutureTask<>(this::splitSource);
    Thread thread = new Thread(splitting, "beam-split-" + registration.fullName());
    thread.setDaemon(true);
    thread.start();
    try {
      return splitting.get();
    } catch (InterruptedException e) {
      splitting.cancel(true);
      // How Spark recognizes that the query is being stopped.
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted =
          new InterruptedIOException("Splitting " + registration.fullName() + " was interrupted.");
      interrupted.initCause(e);
      throw new UncheckedIOException(interrupted);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      // The call declares no checked exception.
      throw (RuntimeException) e.getCause();
    }
  }

  private List<byte[]> splitSource() {
    List<? extends UnboundedSource<?, ?>> parts;
    MetricsEnvironmentState metrics =
        MetricsEnvironment.getMetricsEnvironmentStateForCurrentThread();
    MetricsContainer outer = metrics.activate(registration.driverMetrics());
    try {
      parts =
          registration
              .source()
              .split(registration.desiredSplits(), registration.options().get());
    } catch (Exception | LinkageError | StackOverflowError e) {
      throw new UncheckedIOException(
          new SourceReadException(
              "Splitting the source of " + registration.fullName() + " failed: " + e, e));
    } finally {
      metrics.activate(outer);
    }
    if (parts == null) {
      throw new IllegalStateException(
          "Splitting the source of " + registration.fullName() + " gave no list of splits.");
    }
    List<byte[]> serialized = new ArrayList<>();
    for (UnboundedSource<?, ?> part : parts) {
      try {
        Objects.requireNonNull(part, "split");
        serialized.add(SerializableUtils.serializeToByteArray(part));
      } catch (RuntimeException e) {
        throw new IllegalStateException(
            "Split " + serialized.size() + " of " + registration.fullName()
                + " cannot be serialized: " + e.getMessage(),
            e);
      }
    }
    return serialized;
  }

  private static SerializableConfiguration hadoopConfiguration() {
    return new SerializableConfiguration(SparkSession.active().sessionState().newHadoopConf());
  }

  private static long epochOf(Offset offset) {
    return ((EpochOffset) offset).epoch();
  }

  @Override
  public String toString() {
    return registration.fullName();
  }
}
