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

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.beam.runners.core.construction.SerializablePipelineOptions;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.util.SerializableConfiguration;

/**
 * Stands for Spark and the engine towards the executor side of one source, without a Spark session:
 * reads splits by the real partition reader, completes them, and writes the commit log.
 */
final class SourceDriver {
  /** What one task got. */
  record Outcome(
      List<String> elements, long watermarkMillis, long backlogBytes, List<Long> timestamps) {}

  static final String FULL_NAME = "Pipeline/Read";
  static final long STABLE_ID = 0x1234_5678_9abc_def0L;
  private static final AtomicLong ATTEMPTS = new AtomicLong();

  private final Path checkpointDir;
  private final SourceDescription description;
  private final int splitCount;

  private SourceDriver(Path checkpointDir, SourceDescription description) {
    this.checkpointDir = checkpointDir;
    this.description = description;
    this.splitCount = description.splits().size();
  }

  /** Splits the source and stores the splits, as the driver does at the first start. */
  static SourceDriver start(Path checkpointDir, UnboundedSource<?, ?> source, ReadLimits limits)
      throws Exception {
    return start(
        checkpointDir, registration(checkpointDir, source, limits).minEpochsToRetain(100).build());
  }

  static SourceDriver start(Path checkpointDir, SourceRegistration registration) throws Exception {
    SerializableConfiguration configuration =
        new SerializableConfiguration(new Configuration(false));
    List<byte[]> splits = new ArrayList<>();
    for (UnboundedSource<?, ?> split :
        registration.source().split(registration.desiredSplits(), registration.options().get())) {
      splits.add(SerializableUtils.serializeToByteArray(split));
    }
    SourceDescription description =
        new SourceDescription("application", registration, splits, configuration);
    description.checkpoint().writeSplits(splits);
    return new SourceDriver(checkpointDir, description);
  }

  static SourceRegistration.Builder registration(
      Path checkpointDir, UnboundedSource<?, ?> source, ReadLimits limits) {
    return SourceRegistration.builder()
        .fullName(FULL_NAME)
        .source(source)
        .options(new SerializablePipelineOptions(PipelineOptionsFactory.create()))
        .checkpointDir(checkpointDir.toString())
        .stableId(STABLE_ID)
        .desiredSplits(2)
        .limits(limits)
        .readerIdleTimeoutMillis(60_000)
        .gate(new OpenGate());
  }

  int splitCount() {
    return splitCount;
  }

  BeamSourceCheckpoint checkpoint() {
    return description.checkpoint();
  }

  /** A task attempt that has not been given any row yet; the caller closes the reading. */
  SplitReading open(int split, long epoch) throws IOException {
    return open(split, epoch, false);
  }

  private SplitReading open(int split, long epoch, boolean drained) throws IOException {
    return new SplitReading(
        description,
        new BeamInputPartition(split, epoch, drained, 1, new String[0]),
        ATTEMPTS.incrementAndGet());
  }

  /** One task that goes well. */
  Outcome read(int split, long epoch) throws IOException {
    return readToTheEnd(open(split, epoch));
  }

  /** One task of an epoch that drains. */
  Outcome drain(int split, long epoch) throws IOException {
    return readToTheEnd(open(split, epoch, true));
  }

  private static Outcome readToTheEnd(SplitReading reading) throws IOException {
    try (BeamPartitionReader rows = new BeamPartitionReader(reading)) {
      List<String> elements = new ArrayList<>();
      List<Long> timestamps = new ArrayList<>();
      while (rows.next()) {
        WindowedValue<Object> element = rows.get().value();
        elements.add(String.valueOf(element.getValue()));
        timestamps.add(element.getTimestamp().getMillis());
      }
      SplitReading.current().complete();
      return new Outcome(
          elements, reading.watermarkMillis(), reading.backlogBytes(), timestamps);
    }
  }

  /** One epoch of all splits that goes well, and is committed. */
  List<Outcome> readEpoch(long epoch) throws IOException {
    List<Outcome> outcomes = new ArrayList<>();
    for (int split = 0; split < Math.max(1, splitCount); split++) {
      outcomes.add(read(split, epoch));
    }
    commit(epoch);
    return outcomes;
  }

  /** Writes the epoch into the commit log, as Spark does. */
  void commit(long epoch) throws IOException {
    Path commits = checkpointDir.resolve("commits");
    Files.createDirectories(commits);
    Files.writeString(commits.resolve(Long.toString(epoch)), "v1\n{}");
  }

  File markFile(int split, String epoch) {
    return new File(
        checkpointDir.toString(), "beam/sources/123456789abcdef0/marks/" + split + "-" + epoch);
  }

  /** Lets every epoch start. */
  private static final class OpenGate implements EpochGate {
    @Override
    public boolean mayStart(long epoch) {
      return true;
    }

    @Override
    public boolean isDraining(long epoch) {
      return false;
    }

    @Override
    public void epochCommitted(long endOffset) {}

    @Override
    public Map<String, String> sourceMetrics(int sourceIndex) {
      return Map.of();
    }
  }
}
