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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads what a {@link ByteWriter} wrote. Reading past the end by one of the typed methods is an
 * {@link IllegalStateException}: the row was written by something else. Not thread-safe.
 */
public final class ByteReader extends InputStream {
  private final byte[] buffer;
  private final int limit;
  private int position;

  public ByteReader(byte[] bytes) {
    this(bytes, 0, bytes.length);
  }

  ByteReader(byte[] bytes, int offset, int length) {
    this.buffer = bytes;
    this.position = offset;
    this.limit = offset + length;
  }

  @Override
  public int read() {
    return position < limit ? buffer[position++] & 0xFF : -1;
  }

  @Override
  public int read(byte[] target, int offset, int count) {
    if (count == 0) {
      return 0;
    }
    if (position >= limit) {
      return -1;
    }
    int taken = Math.min(count, limit - position);
    System.arraycopy(buffer, position, target, offset, taken);
    position += taken;
    return taken;
  }

  @Override
  public int available() {
    return limit - position;
  }

  public byte int8() {
    require(1);
    return buffer[position++];
  }

  public long int64() {
    require(Long.BYTES);
    long value = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      value = (value << 8) | (buffer[position++] & 0xFF);
    }
    return value;
  }

  public long orderedInt64() {
    return int64() ^ Long.MIN_VALUE;
  }

  public long varint() {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      byte next = int8();
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new IllegalStateException("A number of more than ten bytes before byte " + position);
  }

  public byte[] part() {
    int length = partLength();
    position += length;
    return Arrays.copyOfRange(buffer, position - length, position);
  }

  public String text() {
    int length = partLength();
    position += length;
    return new String(buffer, position - length, length, StandardCharsets.UTF_8);
  }

  /** The next part as a reader of its own, without a copy. */
  ByteReader partReader() {
    int length = partLength();
    position += length;
    return new ByteReader(buffer, position - length, length);
  }

  /** A second reader of all that is left, without a copy. */
  ByteReader copy() {
    return new ByteReader(buffer, position, limit - position);
  }

  /** All that is left. */
  public byte[] rest() {
    int from = position;
    position = limit;
    return Arrays.copyOfRange(buffer, from, limit);
  }

  private int partLength() {
    long length = varint();
    if (length < 0 || length > limit - position) {
      throw new IllegalStateException(
          "A part of " + length + " bytes where " + (limit - position) + " are left");
    }
    return (int) length;
  }

  private void require(int count) {
    if (limit - position < count) {
      throw new IllegalStateException(
          count + " bytes expected at byte " + position + ", " + (limit - position) + " are left");
    }
  }
}
