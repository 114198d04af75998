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
package org.apache.beam.runners.spark.structuredstreaming.speed;

import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.beam.sdk.coders.AtomicCoder;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.KV;
import org.joda.time.Instant;

/**
 * Records as fast as they can be made: record {@code i} of split {@code s} has the key {@code ((2i +
 * s) * 0x9E3779B97F4A7C15 >>> 33) % 1000}, the value 1 and the event time {@code 4i} ms; the
 * watermark is the last event time, and the end of time behind the last record.
 */
final class SpeedSource extends UnboundedSource<KV<Long, Long>, SpeedSource.Mark> {
  private static final long KEYS = 1000;

  private final long recordsPerSplit;
  private final int splits;
  private final int split;

  SpeedSource(long records, int splits) {
    this(records / splits, splits, -1);
  }

  private SpeedSource(long recordsPerSplit, int splits, int split) {
    this.recordsPerSplit = recordsPerSplit;
    this.splits = splits;
    this.split = split;
  }

  /** Number of the next record. */
  record Mark(long next) implements CheckpointMark {
    @Override
    public void finalizeCheckpoint() {
      // Records are made, not fetched: there is nobody to tell.
    }
  }

  /** Codes the number. */
  static final class MarkCoder extends AtomicCoder<Mark> {
    @Override
    public void encode(Mark mark, OutputStream out) throws java.io.IOException {
      VarLongCoder.of().encode(mark.next(), out);
    }

    @Override
    public Mark decode(InputStream in) throws java.io.IOException {
      return new Mark(VarLongCoder.of().decode(in));
    }
  }

  @Override
  public List<SpeedSource> split(int desiredNumSplits, PipelineOptions options) {
    List<SpeedSource> all = new ArrayList<>();
    for (int i = 0; i < splits; i++) {
      all.add(new SpeedSource(recordsPerSplit, splits, i));
    }
    return all;
  }

  @Override
  public UnboundedReader<KV<Long, Long>> createReader(PipelineOptions options, Mark mark) {
    return new Reader(mark == null ? 0 : mark.next());
  }

  @Override
  public Coder<Mark> getCheckpointMarkCoder() {
    return new MarkCoder();
  }

  @Override
  public Coder<KV<Long, Long>> getOutputCoder() {
    return KvCoder.of(VarLongCoder.of(), VarLongCoder.of());
  }

  private final class Reader extends UnboundedReader<KV<Long, Long>> {
    private long next;
    private KV<Long, Long> current;
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
      if (next >= recordsPerSplit) {
        timestamp = BoundedWindow.TIMESTAMP_MAX_VALUE;
        return false;
      }
      long key = (((2 * next + split) * 0x9E3779B97F4A7C15L) >>> 33) % KEYS;
      current = KV.of(key, 1L);
      timestamp = Instant.ofEpochMilli(4 * next);
      next++;
      return true;
    }

    @Override
    public KV<Long, Long> getCurrent() {
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
    public void close() {
      // Nothing is open.
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
    public SpeedSource getCurrentSource() {
      return SpeedSource.this;
    }
  }
}
