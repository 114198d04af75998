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
package org.apache.beam.runners.spark.structuredstreaming.engine.shuffle;

import java.io.EOFException;
import java.io.InputStream;

/**
 * Reads a range of a byte array: the counterpart of {@link ByteOutput}. Not thread-safe.
 *
 * <p>Reading past the end throws {@link EOFException} from the methods that a record's structure is
 * read with, and returns -1 from those of {@link InputStream}, which coders use.
 */
public final class ByteInput extends InputStream {
  private byte[] bytes = new byte[0];
  private int position;
  private int end;

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

  /** Reads what {@link ByteOutput#writeVarInt} wrote. */
  public int readVarInt() throws EOFException {
    return (int) readVarLong();
  }

  /** Reads what {@link ByteOutput#writeVarLong} wrote. */
  public long readVarLong() throws EOFException {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      int next = readByte();
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new IllegalStateException("Not a variable-length number at position " + position);
  }

  /** Reads what {@link ByteOutput#writeLong} wrote. */
  public long readLong() throws EOFException {
    if (end - position < Long.BYTES) {
      throw new EOFException("Eight bytes expected, found " + (end - position));
    }
    long value = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      value = (value << Byte.SIZE) | (bytes[position++] & 0xFF);
    }
    return value;
  }

  public byte readByte() throws EOFException {
    if (position >= end) {
      throw new EOFException("Another byte expected at the end of the data");
    }
    return bytes[position++];
  }

  /** Reads a length of bytes to follow and checks that they are there. */
  public int readLength() throws EOFException {
    int length = readVarInt();
    if (length < 0 || length > end - position) {
      throw new EOFException(length + " bytes expected, found " + (end - position));
    }
    return length;
  }

  /** Reads {@code length} bytes into an array of their own. */
  public byte[] readBytes(int length) throws EOFException {
    if (length > end - position) {
      throw new EOFException(length + " bytes expected, found " + (end - position));
    }
    byte[] copy = new byte[length];
    System.arraycopy(bytes, position, copy, 0, length);
    position += length;
    return copy;
  }
}
