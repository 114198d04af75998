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
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.beam.sdk.io.BoundedSource;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.joda.time.Instant;

/**
 * Reads the parts of a {@link BoundedReadSource} in order, from a mark on. At most one part is open
 * at a time. Used by one thread at a time, like any reader.
 */
final class BoundedReader<T> extends UnboundedReader<T> {
  /** Size of a part that does not know its own. */
  static final long UNKNOWN_SIZE = -1;

  private final UnboundedSource<T, BoundedReadMark> source;
  private final List<BoundedSource<T>> parts;
  private final long[] partSizesBytes;
  private final PipelineOptions options;

  /** Parts that are behind; the part being read is the one with this index. */
  private int part;

  /** Elements of the part being read that have been returned, the current one included. */
  private long elements;

  private boolean done;
  private BoundedSource.BoundedReader<T> open;
  private boolean hasCurrent;

  BoundedReader(
      UnboundedSource<T, BoundedReadMark> source,
      List<BoundedSource<T>> parts,
      long[] partSizesBytes,
      PipelineOptions options,
      BoundedReadMark mark) {
    this.source = source;
    this.parts = parts;
    this.partSizesBytes = partSizesBytes;
    this.options = options;
    this.part = mark.part();
    this.elements = mark.elements();
    this.done = mark.done();
    if (!done && part > parts.size()) {
      throw new IllegalArgumentException(
          source + ": the mark says that " + part + " parts have been read of " + parts.size());
    }
  }

  @Override
  public boolean start() throws IOException {
    return advance();
  }

  @Override
  public boolean advance() throws IOException {
    hasCurrent = !done && readNext();
    return hasCurrent;
  }

  private boolean readNext() throws IOException {
    while (part < parts.size()) {
      if (open == null ? openAndSkip() : open.advance()) {
        elements++;
        return true;
      }
      close();
      part++;
      elements = 0;
    }
    done = true;
    return false;
  }

  /** Opens the current part and moves it to the element behind the {@link #elements} first ones. */
  private boolean openAndSkip() throws IOException {
    open = parts.get(part).createReader(options);
    boolean available = open.start();
    for (long skipped = 0; skipped < elements; skipped++) {
      if (!available) {
        throw new IOException(
            String.format(
                "%s: %d elements had been read of part %d (%s), but reading it again gave only %d."
                    + " A bounded source in a streaming pipeline has to read the same each time.",
                source, elements, part, parts.get(part), skipped));
      }
      available = open.advance();
    }
    return available;
  }

  @Override
  public T getCurrent() throws NoSuchElementException {
    requireCurrent();
    return open.getCurrent();
  }

  @Override
  public Instant getCurrentTimestamp() throws NoSuchElementException {
    requireCurrent();
    return open.getCurrentTimestamp();
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
    return new BoundedReadMark(part, elements, done);
  }

  /**
   * The estimated sizes of the parts ahead, the open one's scaled by what it says it has consumed;
   * unknown when one of them is.
   */
  @Override
  public long getSplitBacklogBytes() {
    if (done) {
      return 0;
    }
    long backlog = 0;
    for (int ahead = part; ahead < parts.size(); ahead++) {
      if (partSizesBytes[ahead] == UNKNOWN_SIZE) {
        return BACKLOG_UNKNOWN;
      }
      double left = ahead == part ? 1 - consumedOfOpenPart() : 1;
      backlog += (long) (partSizesBytes[ahead] * left);
    }
    return backlog;
  }

  private double consumedOfOpenPart() {
    Double fraction = open == null ? null : open.getFractionConsumed();
    return fraction == null ? 0 : Math.min(1, Math.max(0, fraction));
  }

  @Override
  public UnboundedSource<T, BoundedReadMark> getCurrentSource() {
    return source;
  }

  @Override
  public void close() throws IOException {
    BoundedSource.BoundedReader<T> closing = open;
    open = null;
    hasCurrent = false;
    if (closing != null) {
      closing.close();
    }
  }
}
