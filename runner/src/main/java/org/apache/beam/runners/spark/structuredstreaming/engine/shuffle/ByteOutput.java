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

import java.io.OutputStream;
import java.util.Arrays;

/**
 * A growing byte buffer that coders write to: {@link java.io.ByteArrayOutputStream} without its
 * locks, with access to the array and with the few primitives that records are made of.
 *
 * <p>Not thread-safe.
 */
public final class ByteOutput extends OutputStream {
  /** The largest array that every JVM can allocate. */
  private static final int MAX_CAPACITY = Integer.MAX_VALUE - 8;

  private static final int MAX_KEPT_BYTES = 1 << 20;
  private static final int USUAL_BYTES = 256;

  private byte[] bytes;
  private int size;

  public ByteOutput(int initialCapacity) {
    this.bytes = new byte[Math.max(16, initialCapacity)];
  }

  @Override
  public void write(int value) {
    if (size == bytes.length) {
      grow(1);
    }
    bytes[size++] = (byte) value;
  }

  @Override
  public void write(byte[] source, int offset, int length) {
    if (length > bytes.length - size) {
      grow(length);
    }
    System.arraycopy(source, offset, bytes, size, length);
    size += length;
  }

  @Override
  public void write(byte[] source) {
    write(source, 0, source.length);
  }

  /** Writes {@code value}, not negative, in one to five bytes of seven bits, lowest first. */
  public void writeVarInt(int value) {
    int rest = value;
    while ((rest & ~0x7F) != 0) {
      write((rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    write(rest);
  }

  /** Writes {@code value}, not negative, in one to nine bytes of seven bits, lowest first. */
  public void writeVarLong(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      write((int) (rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    write((int) rest);
  }

  /** Writes eight bytes, highest first. */
  public void writeLong(long value) {
    if (bytes.length - size < Long.BYTES) {
      grow(Long.BYTES);
    }
    for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      bytes[size++] = (byte) (value >>> shift);
    }
  }

  /** Writes the length of {@code source}'s content, then the content. */
  public void writeSized(ByteOutput source) {
    writeVarInt(source.size);
    write(source.bytes, 0, source.size);
  }

  /** The backing array, valid up to {@link #size()} and until the next write. */
  public byte[] array() {
    return bytes;
  }

  public int size() {
    return size;
  }

  /** Forgets the content; keeps the array, unless something very large has passed. */
  public void reset() {
    size = 0;
    if (bytes.length > MAX_KEPT_BYTES) {
      bytes = new byte[USUAL_BYTES];
    }
  }

  /** Gives the backing array away and goes on with {@code replacement}, empty. */
  public byte[] swap(byte[] replacement) {
    byte[] given = bytes;
    bytes = replacement;
    size = 0;
    return given;
  }

  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  private void grow(int needed) {
    long wanted = Math.max((long) size + needed, bytes.length * 2L);
    if ((long) size + needed > MAX_CAPACITY) {
      throw new IllegalStateException(
          "An encoded element or group is larger than " + MAX_CAPACITY + " bytes, the most one array holds.");
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(wanted, MAX_CAPACITY));
  }
}
