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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import java.io.IOException;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.io.UnboundedSource.CheckpointMark;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.joda.time.Instant;

/** Reads a split of a {@link ReplayedTextSource}, whose rules it keeps. Used by one thread. */
final class ReplayedTextReader extends UnboundedReader<String> {
  private final ReplayedTextSource source;
  private final List<TextSegment> segments;
  private final ReplayPace pace;

  // The next line starts at 'position' of segment 'segment'; 'lines' is open there, or null.
  private int segment;
  private long position;
  private long nextLine;
  private LineReader lines;
  private String current;

  /**
   * @param mark where to go on, null to start at the split's beginning
   */
  ReplayedTextReader(ReplayedTextSource source, ReplayMark mark, ReplayPace pace) {
    this.source = source;
    this.segments = source.segments();
    this.pace = pace;
    if (mark == null) {
      this.nextLine = source.firstLine();
      this.position = segments.isEmpty() ? 0 : segments.get(0).start();
    } else {
      this.segment = mark.segment();
      this.position = mark.position();
      this.nextLine = mark.line();
    }
  }

  @Override
  public boolean start() throws IOException {
    return advance();
  }

  @Override
  public boolean advance() throws IOException {
    current = null;
    if (isAtEnd() || !pace.isDue(nextLine)) {
      return false;
    }
    if (lines == null) {
      lines = LineReader.open(segments.get(segment), position);
    }
    current = lines.next();
    position = lines.position();
    nextLine++;
    if (!lines.hasNext()) {
      closeSegment();
      segment++;
      position = isAtEnd() ? 0 : segments.get(segment).start();
    }
    return true;
  }

  @Override
  public String getCurrent() {
    if (current == null) {
      throw new NoSuchElementException("There is no current line.");
    }
    return current;
  }

  @Override
  public Instant getCurrentTimestamp() {
    if (current == null) {
      throw new NoSuchElementException("There is no current line.");
    }
    return source.timeline().timeOf(nextLine - 1);
  }

  @Override
  public Instant getWatermark() {
    return isAtEnd() ? BoundedWindow.TIMESTAMP_MAX_VALUE : source.timeline().timeOf(nextLine);
  }

  @Override
  public CheckpointMark getCheckpointMark() {
    return new ReplayMark(segment, position, nextLine, pace.replayedUpTo(nextLine));
  }

  @Override
  public UnboundedSource<String, ?> getCurrentSource() {
    return source;
  }

  @Override
  public long getSplitBacklogBytes() {
    if (isAtEnd()) {
      return 0;
    }
    long bytes = segments.get(segment).end() - position;
    for (int i = segment + 1; i < segments.size(); i++) {
      bytes += segments.get(i).bytes();
    }
    return bytes;
  }

  @Override
  public void close() throws IOException {
    closeSegment();
  }

  private boolean isAtEnd() {
    return segment >= segments.size();
  }

  private void closeSegment() throws IOException {
    LineReader open = lines;
    lines = null;
    if (open != null) {
      open.close();
    }
  }
}
