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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.values.KV;
import org.checkerframework.checker.nullness.qual.Nullable;

/**
 * Gives {@link SeededRecords}, a few in an epoch: how many is another number every time, so a split
 * that is read once more for an epoch gives something else. Every call of Beam's is written to the
 * {@link CallLog} of the run.
 */
final class LoggedSource extends UnboundedSource<KV<String, Long>, LoggedSource.Mark> {
  private final SeededRecords records;
  private final int perEpoch;
  private final int split;

  LoggedSource(SeededRecords records, int perEpoch) {
    this(records, perEpoch, -1);
  }

  private LoggedSource(SeededRecords records, int perEpoch, int split) {
    this.records = records;
    this.perEpoch = perEpoch;
    this.split = split;
  }

  SeededRecords records() {
    return records;
  }

  int perEpoch() {
    return perEpoch;
  }

  int splitNumber() {
    return split;
  }

  @Override
  public List<LoggedSource> split(int desiredNumSplits, PipelineOptions options) {
    List<LoggedSource> splits = new ArrayList<>();
    for (int number = 0; number < records.splits(); number++) {
      splits.add(new LoggedSource(records, perEpoch, number));
    }
    return splits;
  }

  @Override
  public UnboundedReader<KV<String, Long>> createReader(PipelineOptions options, @Nullable Mark mark)
      throws IOException {
    return LoggedReader.open(this, mark);
  }

  @Override
  public Coder<Mark> getCheckpointMarkCoder() {
    return new MarkCoder();
  }

  @Override
  public boolean requiresDeduping() {
    return records.repeated();
  }

  @Override
  public Coder<KV<String, Long>> getOutputCoder() {
    return KvCoder.of(StringUtf8Coder.of(), VarLongCoder.of());
  }

  /** A position in a split, with the epoch and the name of the mark; the reader while it lives. */
  static final class Mark implements UnboundedSource.CheckpointMark {
    private final String name;
    private final int position;
    private final long epoch;
    private final @Nullable LoggedReader reader;

    Mark(String name, int position, long epoch, @Nullable LoggedReader reader) {
      this.name = name;
      this.position = position;
      this.epoch = epoch;
      this.reader = reader;
    }

    String name() {
      return name;
    }

    int position() {
      return position;
    }

    long epoch() {
      return epoch;
    }

    @Override
    public void finalizeCheckpoint() {
      if (reader == null) {
        throw new IllegalStateException("The mark " + name + " is finalized without its reader.");
      }
      reader.finalized(this);
    }
  }

  private static final class MarkCoder extends CustomCoder<Mark> {
    @Override
    public void encode(Mark mark, OutputStream out) throws IOException {
      DataOutputStream data = new DataOutputStream(out);
      byte[] name = mark.name.getBytes(StandardCharsets.UTF_8);
      data.writeInt(name.length);
      data.write(name);
      data.writeInt(mark.position);
      data.writeLong(mark.epoch);
    }

    @Override
    public Mark decode(InputStream in) throws IOException {
      DataInputStream data = new DataInputStream(in);
      String name = new String(data.readNBytes(data.readInt()), StandardCharsets.UTF_8);
      return new Mark(name, data.readInt(), data.readLong(), null);
    }
  }
}
