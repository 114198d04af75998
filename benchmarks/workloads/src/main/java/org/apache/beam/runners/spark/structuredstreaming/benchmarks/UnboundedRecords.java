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
package org.apache.beam.runners.spark.structuredstreaming.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;
import org.apache.beam.sdk.coders.AtomicCoder;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.joda.time.Instant;

/**
 * The records of a generator, as fast as they can be made. Split {@code s} of {@code n} has the numbers
 * {@code s, s + n, s + 2n, ...}; its watermark is the event time of its last record, and the end of time
 * behind them all.
 *
 * @param <T> type of a record
 */
final class UnboundedRecords<T> extends UnboundedSource<T, UnboundedRecords.Mark> {
  /** As many as each runner has cores to use. */
  static final int SPLITS = 2;

  private final Generator<T> generator;
  private final long records;
  private final int splits;
  private final int split;

  UnboundedRecords(Generator<T> generator, long records) {
    this(generator, records, 1, 0);
  }

  private UnboundedRecords(Generator<T> generator, long records, int splits, int split) {
    this.generator = generator;
    this.records = records;
    this.splits = splits;
    this.split = split;
  }

  /**
   * Where a split goes on.
   *
   * @param next number of the record to read next
   */
  record Mark(long next) implements CheckpointMark {
    @Override
    public void finalizeCheckpoint() {
      // Records are made, not fetched: there is nobody to tell.
    }
  }

  /** Codes the number. */
  static final class MarkCoder extends AtomicCoder<Mark> {
    @Override
    public void encode(Mark mark, OutputStream out) throws IOException {
      VarLongCoder.of().encode(mark.next(), out);
    }

    @Override
    public Mark decode(InputStream in) throws IOException {
      return new Mark(VarLongCoder.of().decode(in));
    }
  }

  @Override
  public List<UnboundedRecords<T>> split(int desiredSplits, PipelineOptions options) {
    return IntStream.range(0, SPLITS)
        .mapToObj(i -> new UnboundedRecords<>(generator, records, SPLITS, i))
        .toList();
  }

  @Override
  public UnboundedReader<T> createReader(PipelineOptions options, Mark mark) {
    return new Reader(mark == null ? split : mark.next());
  }

  @Override
  public Coder<Mark> getCheckpointMarkCoder() {
    return new MarkCoder();
  }

  @Override
  public Coder<T> getOutputCoder() {
    return generator.coder();
  }

  private final class Reader extends UnboundedReader<T> {
    private long next;
    private T current;
    private Instant timestamp = BoundedWindow.TIMESTAMP_MIN_VALUE;

    Reader(long next) {
      this.next = next;
    }

    @Override
    public boolean start() {
      return advance();
    }

    @Override
    public boolean advance() {
      if (next >= records) {
        timestamp = BoundedWindow.TIMESTAMP_MAX_VALUE;
        return false;
      }
      current = generator.record(next);
      timestamp = generator.timestamp(next);
      next += splits;
      return true;
    }

    @Override
    public T getCurrent() {
      if (current == null) {
        throw new NoSuchElementException();
      }
      return current;
    }

    @Override
    public Instant getCurrentTimestamp() {
      return timestamp;
    }

    @Override
    public Instant getWatermark() {
      return timestamp;
    }

    @Override
    public CheckpointMark getCheckpointMark() {
      return new Mark(next);
    }

    @Override
    public UnboundedRecords<T> getCurrentSource() {
      return UnboundedRecords.this;
    }

    @Override
    public void close() {
      // Nothing is open.
    }
  }
}
