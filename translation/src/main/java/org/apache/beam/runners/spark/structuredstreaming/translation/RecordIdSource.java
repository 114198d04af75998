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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.io.UnboundedSource.CheckpointMark;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.display.DisplayData;
import org.apache.beam.sdk.values.ValueWithRecordId;
import org.apache.beam.sdk.values.ValueWithRecordId.ValueWithRecordIdCoder;
import org.joda.time.Instant;

/**
 * A source that {@link UnboundedSource#requiresDeduping() requires deduping}, giving each record with
 * its id for a {@link DeduplicateStep} behind it. Splits, marks and watermarks are the source's own.
 */
public final class RecordIdSource<T, MarkT extends CheckpointMark>
    extends UnboundedSource<ValueWithRecordId<T>, MarkT> {
  private final UnboundedSource<T, MarkT> source;

  public RecordIdSource(UnboundedSource<T, MarkT> source) {
    this.source = Objects.requireNonNull(source, "source");
  }

  /** The source without ids. */
  public UnboundedSource<T, MarkT> source() {
    return source;
  }

  @Override
  public List<? extends UnboundedSource<ValueWithRecordId<T>, MarkT>> split(
      int desiredNumSplits, PipelineOptions options) throws Exception {
    List<RecordIdSource<T, MarkT>> splits = new ArrayList<>();
    for (UnboundedSource<T, MarkT> split : source.split(desiredNumSplits, options)) {
      splits.add(new RecordIdSource<>(split));
    }
    return splits;
  }

  @Override
  public UnboundedReader<ValueWithRecordId<T>> createReader(PipelineOptions options, MarkT mark)
      throws IOException {
    return new Reader<>(this, source.createReader(options, mark));
  }

  @Override
  public Coder<MarkT> getCheckpointMarkCoder() {
    return source.getCheckpointMarkCoder();
  }

  @Override
  public Coder<ValueWithRecordId<T>> getOutputCoder() {
    return ValueWithRecordIdCoder.of(source.getOutputCoder());
  }

  @Override
  public boolean requiresDeduping() {
    return source.requiresDeduping();
  }

  @Override
  public void validate() {
    source.validate();
  }

  @Override
  public void populateDisplayData(DisplayData.Builder builder) {
    builder.include("source", source);
  }

  @Override
  public String toString() {
    return source.toString();
  }

  private static final class Reader<T, MarkT extends CheckpointMark>
      extends UnboundedReader<ValueWithRecordId<T>> {
    private final RecordIdSource<T, MarkT> source;
    private final UnboundedReader<T> reader;

    Reader(RecordIdSource<T, MarkT> source, UnboundedReader<T> reader) {
      this.source = source;
      this.reader = reader;
    }

    @Override
    public boolean start() throws IOException {
      return reader.start();
    }

    @Override
    public boolean advance() throws IOException {
      return reader.advance();
    }

    @Override
    public ValueWithRecordId<T> getCurrent() throws NoSuchElementException {
      return new ValueWithRecordId<>(reader.getCurrent(), reader.getCurrentRecordId());
    }

    @Override
    public byte[] getCurrentRecordId() throws NoSuchElementException {
      return reader.getCurrentRecordId();
    }

    @Override
    public Instant getCurrentTimestamp() throws NoSuchElementException {
      return reader.getCurrentTimestamp();
    }

    @Override
    public Instant getWatermark() {
      return reader.getWatermark();
    }

    @Override
    public CheckpointMark getCheckpointMark() {
      return reader.getCheckpointMark();
    }

    @Override
    public long getSplitBacklogBytes() {
      return reader.getSplitBacklogBytes();
    }

    @Override
    public long getTotalBacklogBytes() {
      return reader.getTotalBacklogBytes();
    }

    @Override
    public UnboundedSource<ValueWithRecordId<T>, MarkT> getCurrentSource() {
      return source;
    }

    @Override
    public void close() throws IOException {
      reader.close();
    }
  }
}
