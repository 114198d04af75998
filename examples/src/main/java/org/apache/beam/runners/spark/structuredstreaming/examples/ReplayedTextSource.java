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
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.display.DisplayData;
import org.joda.time.Instant;

/**
 * Replays the lines of text files as though they were written just now, and ends behind the last.
 *
 * <pre>
 * line i                = the i-th line, counted from 0 through all files in the order of their paths
 * event time of line i  = start + i * interval
 * watermark of a split  = event time of its next line; the end of time when there is none
 * </pre>
 *
 * <p>Splits are ranges of lines of about the same number of bytes. A mark is the position of the next
 * line, so a split restored from any mark continues with exactly the line that follows. The files
 * must not change meanwhile. The pace comes from {@link ReplayOptions}.
 */
public final class ReplayedTextSource extends UnboundedSource<String, ReplayMark> {
  private final Timeline timeline;
  private final List<TextSegment> segments;
  private final long firstLine;

  /**
   * Which event time lines have.
   *
   * @param startMillis of line 0
   * @param intervalMillis from one line to the next, more than 0
   */
  record Timeline(long startMillis, long intervalMillis) implements Serializable {
    Timeline {
      if (intervalMillis <= 0) {
        throw new IllegalArgumentException(
            "--lineIntervalMillis=" + intervalMillis + " must be more than 0.");
      }
    }

    Instant timeOf(long line) {
      return Instant.ofEpochMilli(
          Math.addExact(startMillis, Math.multiplyExact(line, intervalMillis)));
    }
  }

  private ReplayedTextSource(Timeline timeline, List<TextSegment> segments, long firstLine) {
    this.timeline = Objects.requireNonNull(timeline, "timeline");
    this.segments = List.copyOf(segments);
    this.firstLine = firstLine;
  }

  /**
   * A source of the files that patterns name now.
   *
   * @param patterns paths or globs
   * @param start event time of the first line
   * @param lineIntervalMillis event time from one line to the next, more than 0
   * @throws IllegalArgumentException if a pattern names no file
   */
  public static ReplayedTextSource of(
      List<String> patterns, Instant start, long lineIntervalMillis) {
    return new ReplayedTextSource(
        new Timeline(start.getMillis(), lineIntervalMillis), TextFiles.find(patterns), 0);
  }

  @Override
  public List<ReplayedTextSource> split(int desiredSplits, PipelineOptions options)
      throws IOException {
    long bytes = segments.stream().mapToLong(TextSegment::bytes).sum();
    int most = Math.max(1, desiredSplits);
    long bytesPerSplit = Math.max(1, (bytes + most - 1) / most);
    List<ReplayedTextSource> splits = new ArrayList<>();
    List<TextSegment> collected = new ArrayList<>();
    long collectedBytes = 0;
    long splitLine = firstLine;
    long line = firstLine;
    for (TextSegment segment : segments) {
      long start = segment.start();
      try (LineReader lines = LineReader.open(segment, start)) {
        while (lines.hasNext()) {
          lines.skip();
          line++;
          if (collectedBytes + lines.position() - start >= bytesPerSplit) {
            collected.add(new TextSegment(segment.path(), start, lines.position()));
            splits.add(new ReplayedTextSource(timeline, collected, splitLine));
            collected.clear();
            collectedBytes = 0;
            start = lines.position();
            splitLine = line;
          }
        }
      }
      if (start < segment.end()) {
        collected.add(new TextSegment(segment.path(), start, segment.end()));
        collectedBytes += segment.end() - start;
      }
    }
    if (!collected.isEmpty() || splits.isEmpty()) {
      splits.add(new ReplayedTextSource(timeline, collected, splitLine));
    }
    return splits;
  }

  @Override
  public UnboundedReader<String> createReader(PipelineOptions options, ReplayMark mark) {
    double linesPerSecond = options.as(ReplayOptions.class).getLinesPerSecond();
    double replayed = mark == null ? 0 : mark.replayed();
    return new ReplayedTextReader(
        this, mark, new ReplayPace(linesPerSecond, replayed, System::nanoTime));
  }

  @Override
  public Coder<ReplayMark> getCheckpointMarkCoder() {
    return new ReplayMarkCoder();
  }

  @Override
  public Coder<String> getOutputCoder() {
    return StringUtf8Coder.of();
  }

  @Override
  public void populateDisplayData(DisplayData.Builder builder) {
    builder.add(DisplayData.item("files", segments.size()));
    builder.add(DisplayData.item("firstLine", firstLine));
  }

  Timeline timeline() {
    return timeline;
  }

  List<TextSegment> segments() {
    return segments;
  }

  /** Number of the split's first line, over all the source's lines. */
  long firstLine() {
    return firstLine;
  }
}
