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
package org.apache.beam.runners.spark.structuredstreaming.scaling;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.UUID;
import org.apache.beam.sdk.coders.AtomicCoder;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.KV;
import org.joda.time.Instant;

/**
 * One record a split and epoch, until {@link Steering} says that it is enough. Record {@code i} of split
 * {@code s} has the value {@code i} and the key {@link #key}. Each split writes down with how many
 * records it ended, and each reader in which process it was opened, and how it was closed.
 */
final class SteeredSource extends UnboundedSource<KV<Integer, Long>, SteeredSource.Mark> {
  static final int SPLITS = 6;
  private static final int KEYS = 20;
  private static final long SEED = 0x5DEECE66DL;

  private final Steering steering;
  private final int split;

  SteeredSource(Steering steering) {
    this(steering, -1);
  }

  private SteeredSource(Steering steering, int split) {
    this.steering = steering;
    this.split = split;
  }

  /** The key of a record. */
  static int key(int split, long number) {
    return (int) ((((SPLITS * number + split + 1) * SEED) >>> 17) % KEYS);
  }

  /** Where a reader stands; the object knows whether it was finalized. */
  static final class Mark implements CheckpointMark {
    private final long next;
    private final boolean ended;
    private boolean finalized;

    Mark(long next, boolean ended) {
      this.next = next;
      this.ended = ended;
    }

    @Override
    public void finalizeCheckpoint() {
      finalized = true;
    }
  }

  /** Codes a mark. */
  static final class MarkCoder extends AtomicCoder<Mark> {
    @Override
    public void encode(Mark mark, OutputStream out) throws IOException {
      VarLongCoder.of().encode(mark.next, out);
      VarIntCoder.of().encode(mark.ended ? 1 : 0, out);
    }

    @Override
    public Mark decode(InputStream in) throws IOException {
      return new Mark(VarLongCoder.of().decode(in), VarIntCoder.of().decode(in) == 1);
    }
  }

  @Override
  public List<SteeredSource> split(int desiredNumSplits, PipelineOptions options) {
    List<SteeredSource> all = new ArrayList<>();
    for (int i = 0; i < SPLITS; i++) {
      all.add(new SteeredSource(steering, i));
    }
    return all;
  }

  @Override
  public UnboundedReader<KV<Integer, Long>> createReader(PipelineOptions options, Mark mark) {
    Reader reader = new Reader(mark == null ? new Mark(0, false) : mark);
    steering.readerOpened(reader.id, ProcessHandle.current().pid());
    return reader;
  }

  @Override
  public Coder<Mark> getCheckpointMarkCoder() {
    return new MarkCoder();
  }

  @Override
  public Coder<KV<Integer, Long>> getOutputCoder() {
    return KvCoder.of(VarIntCoder.of(), VarLongCoder.of());
  }

  private final class Reader extends UnboundedReader<KV<Integer, Long>> {
    private final String id = split + "-" + UUID.randomUUID();
    private long next;
    private boolean ended;
    private boolean given;
    private Mark last;

    Reader(Mark from) {
      this.next = from.next;
      this.ended = from.ended;
      this.last = from;
    }

    @Override
    public boolean start() {
      return advance();
    }

    @Override
    public boolean advance() {
      if (!given && !ended && steering.isEnd()) {
        ended = true;
        steering.splitEnded(split, next);
      }
      if (given || ended) {
        return false;
      }
      next++;
      given = true;
      return true;
    }

    @Override
    public KV<Integer, Long> getCurrent() {
      if (next == 0) {
        throw new NoSuchElementException();
      }
      return KV.of(key(split, next - 1), next - 1);
    }

    @Override
    public Instant getCurrentTimestamp() {
      return Instant.ofEpochMilli(next - 1);
    }

    @Override
    public Instant getWatermark() {
      return ended ? BoundedWindow.TIMESTAMP_MAX_VALUE : Instant.ofEpochMilli(next - 1);
    }

    @Override
    public CheckpointMark getCheckpointMark() {
      given = false;
      last = new Mark(next, ended);
      return last;
    }

    @Override
    public void close() {
      steering.readerClosed(id, last.finalized);
    }

    @Override
    public SteeredSource getCurrentSource() {
      return SteeredSource.this;
    }
  }

  /** Reads what a file says as a whole number. */
  static long number(Path file) {
    try {
      return Long.parseLong(Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
