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

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import org.apache.beam.sdk.io.FileSystems;

/**
 * Reads the lines of a segment from any of its lines on. A line ends behind a line feed or at the
 * segment's end; a carriage return before the line feed is not part of the text. Bytes that are not
 * UTF-8 become replacement characters. Used by one thread.
 */
final class LineReader implements Closeable {
  private static final int BUFFER_BYTES = 1 << 16;

  private final TextSegment segment;
  private final InputStream in;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private int next;
  private int limit;
  private long position;

  private LineReader(TextSegment segment, InputStream in, long position) {
    this.segment = segment;
    this.in = in;
    this.position = position;
  }

  /**
   * Opens a segment's file.
   *
   * @param position offset in bytes in the file at which a line of the segment starts, or its end
   */
  static LineReader open(TextSegment segment, long position) throws IOException {
    ReadableByteChannel channel =
        FileSystems.open(FileSystems.matchNewResource(segment.path(), false));
    InputStream in = Channels.newInputStream(channel);
    try {
      if (channel instanceof SeekableByteChannel seekable) {
        seekable.position(position);
      } else {
        in.skipNBytes(position);
      }
      return new LineReader(segment, in, position);
    } catch (IOException e) {
      in.close();
      throw e;
    }
  }

  /** Whether the segment has a line left. */
  boolean hasNext() {
    return position < segment.end();
  }

  /** Offset in bytes in the file at which the next line starts; the segment's end after the last. */
  long position() {
    return position;
  }

  /** The text of the next line; called if there is one. */
  String next() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(256);
    takeLine(line);
    byte[] bytes = line.toByteArray();
    int length = bytes.length;
    if (length > 0 && bytes[length - 1] == '\n') {
      length--;
      if (length > 0 && bytes[length - 1] == '\r') {
        length--;
      }
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  /** Passes over the next line; called if there is one. */
  void skip() throws IOException {
    takeLine(null);
  }

  private void takeLine(ByteArrayOutputStream line) throws IOException {
    boolean ended = false;
    while (!ended && position < segment.end()) {
      if (next == limit) {
        fill();
      }
      int end = next;
      while (end < limit && buffer[end] != '\n') {
        end++;
      }
      ended = end < limit;
      if (ended) {
        end++;
      }
      if (line != null) {
        line.write(buffer, next, end - next);
      }
      position += end - next;
      next = end;
    }
  }

  /** Reads more of the segment, never past its end. */
  private void fill() throws IOException {
    next = 0;
    limit = in.read(buffer, 0, (int) Math.min(buffer.length, segment.end() - position));
    if (limit <= 0) {
      limit = 0;
      throw new EOFException(
          segment.path() + " ends at byte " + position + ", but had " + segment.end()
              + " bytes when the pipeline first started. Files that are replayed must not change.");
    }
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
