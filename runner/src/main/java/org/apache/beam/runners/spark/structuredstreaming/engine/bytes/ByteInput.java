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
package org.apache.beam.runners.spark.structuredstreaming.engine.bytes;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads a range of a byte array: the counterpart of {@link ByteOutput}. Not thread-safe.
 *
 * <p>Reading past the end throws {@link IllegalStateException} from the methods that the structure of a
 * record or row is read with: it was written by something else. Those of {@link InputStream}, which coders
 * use, return -1.
 */
public final class ByteInput extends InputStream {
  private byte[] bytes;
  private int position;
  private int end;

  /** An input of nothing, to be {@linkplain #reset reset}. */
  public ByteInput() {
    this(new byte[0]);
  }

  public ByteInput(byte[] source) {
    this(source, 0, source.length);
  }

  ByteInput(byte[] source, int offset, int length) {
    bytes = source;
    position = offset;
    end = offset + length;
  }

  /** Goes on with {@code length} bytes of {@code source} from {@code offset}. */
  public void reset(byte[] source, int offset, int length) {
    bytes = source;
    position = offset;
    end = offset + length;
  }

  public void reset(byte[] source) {
    reset(source, 0, source.length);
  }

  @Override
  public int read() {
    return position < end ? bytes[position++] & 0xFF : -1;
  }

  @Override
  public int read(byte[] target, int offset, int length) {
    if (length == 0) {
      return 0;
    }
    int count = Math.min(length, end - position);
    if (count <= 0) {
      return -1;
    }
    System.arraycopy(bytes, position, target, offset, count);
    position += count;
    return count;
  }

  @Override
  public long skip(long count) {
    int skipped = (int) Math.max(0, Math.min(count, end - position));
    position += skipped;
    return skipped;
  }

  @Override
  public int available() {
    return end - position;
  }

  public boolean isExhausted() {
    return position >= end;
  }

  /** The array being read; bytes from {@link #position()} are still to come. */
  public byte[] array() {
    return bytes;
  }

  public int position() {
    return position;
  }

  /** Goes back or ahead to a position taken by {@link #position()}. */
  public void seek(int newPosition) {
    position = newPosition;
  }

  /** A second input of all that is left, without a copy. */
  public ByteInput copy() {
    return new ByteInput(bytes, position, end - position);
  }

  public byte readByte() {
    require(1);
    return bytes[position++];
  }

  /** Reads what {@link ByteOutput#writeVarInt} wrote. */
  public int readVarInt() {
    return (int) readVarLong();
  }

  /** Reads what {@link ByteOutput#writeVarLong} wrote. */
  public long readVarLong() {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      int next = readByte();
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new IllegalStateException("A number of more than ten bytes before byte " + position);
  }

  /** Reads what {@link ByteOutput#writeLong} wrote. */
  public long readLong() {
    require(Long.BYTES);
    long value = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      value = (value << Byte.SIZE) | (bytes[position++] & 0xFF);
    }
    return value;
  }

  /** Reads what {@link ByteOutput#writeOrderedLong} wrote. */
  public long readOrderedLong() {
    return readLong() ^ Long.MIN_VALUE;
  }

  /** Reads a length of bytes to follow and checks that they are there. */
  public int readLength() {
    long length = readVarLong();
    if (length < 0 || length > end - position) {
      throw new IllegalStateException(
          length + " bytes expected at byte " + position + ", " + (end - position) + " are left");
    }
    return (int) length;
  }

  /** Reads {@code length} bytes into an array of their own. */
  public byte[] readBytes(int length) {
    require(length);
    position += length;
    return Arrays.copyOfRange(bytes, position - length, position);
  }

  /** Reads what {@link ByteOutput#writeSized} wrote, into an array of its own. */
  public byte[] readSized() {
    return readBytes(readLength());
  }

  /** Reads a sized text. */
  public String readText() {
    int length = readLength();
    position += length;
    return new String(bytes, position - length, length, StandardCharsets.UTF_8);
  }

  /** What is sized as an input of its own, without a copy. */
  public ByteInput readSizedInput() {
    int length = readLength();
    position += length;
    return new ByteInput(bytes, position - length, length);
  }

  /** Reads all that is left. */
  public byte[] readRest() {
    return readBytes(end - position);
  }

  private void require(int count) {
    if (end - position < count) {
      throw new IllegalStateException(
          count + " bytes expected at byte " + position + ", " + (end - position) + " are left");
    }
  }
}
