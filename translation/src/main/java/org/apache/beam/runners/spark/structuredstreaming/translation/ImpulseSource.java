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

import java.util.List;
import java.util.NoSuchElementException;
import org.apache.beam.sdk.coders.ByteArrayCoder;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.joda.time.Instant;

/**
 * Impulse: one empty {@code byte[]} at {@code TIMESTAMP_MIN_VALUE}; the watermark goes from there to
 * the end of time once the reader has been advanced past it.
 */
public final class ImpulseSource extends UnboundedSource<byte[], BoundedReadMark> {
  @Override
  public List<ImpulseSource> split(int desiredNumSplits, PipelineOptions options) {
    return List.of(this);
  }

  @Override
  public UnboundedReader<byte[]> createReader(PipelineOptions options, BoundedReadMark mark) {
    return new ImpulseReader(this, mark == null ? BoundedReadMark.START : mark);
  }

  @Override
  public Coder<BoundedReadMark> getCheckpointMarkCoder() {
    return BoundedReadMark.MarkCoder.INSTANCE;
  }

  @Override
  public Coder<byte[]> getOutputCoder() {
    return ByteArrayCoder.of();
  }

  @Override
  public String toString() {
    return "ImpulseSource";
  }

  private static final class ImpulseReader extends UnboundedReader<byte[]> {
    private final ImpulseSource source;
    private boolean emitted;
    private boolean done;
    private boolean hasCurrent;

    private ImpulseReader(ImpulseSource source, BoundedReadMark mark) {
      this.source = source;
      this.emitted = mark.elements() > 0;
      this.done = mark.done();
    }

    @Override
    public boolean start() {
      return advance();
    }

    @Override
    public boolean advance() {
      hasCurrent = !emitted;
      done = emitted;
      emitted = true;
      return hasCurrent;
    }

    @Override
    public byte[] getCurrent() throws NoSuchElementException {
      requireCurrent();
      return new byte[0];
    }

    @Override
    public Instant getCurrentTimestamp() throws NoSuchElementException {
      requireCurrent();
      return BoundedWindow.TIMESTAMP_MIN_VALUE;
    }

    private void requireCurrent() {
      if (!hasCurrent) {
        throw new NoSuchElementException(source + ": there is no current element");
      }
    }

    @Override
    public Instant getWatermark() {
      return done ? BoundedWindow.TIMESTAMP_MAX_VALUE : BoundedWindow.TIMESTAMP_MIN_VALUE;
    }

    @Override
    public BoundedReadMark getCheckpointMark() {
      return new BoundedReadMark(0, emitted ? 1 : 0, done);
    }

    @Override
    public long getSplitBacklogBytes() {
      return 0;
    }

    @Override
    public ImpulseSource getCurrentSource() {
      return source;
    }

    @Override
    public void close() {}
  }
}
