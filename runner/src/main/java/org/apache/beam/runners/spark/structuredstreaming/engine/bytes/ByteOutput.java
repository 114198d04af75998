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

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A growing array of bytes that coders write to: {@link java.io.ByteArrayOutputStream} without its locks,
 * with access to the array and with the few primitives that records and rows are made of. Numbers of fixed
 * width are big endian; what is <em>sized</em> is preceded by its length, so that a sequence of such is
 * unambiguous whatever bytes they hold.
 *
 * <p>Not thread-safe.
 */
public final class ByteOutput extends OutputStream {
  /** The largest array that every JVM can allocate. */
  private static final int MAX_CAPACITY = Integer.MAX_VALUE - 8;

  private static final int LEAST_CAPACITY = 16;
  private static final int MAX_KEPT_BYTES = 1 << 20;
  private static final int USUAL_BYTES = 64;

  private byte[] bytes;
  private int size;

  public ByteOutput() {
    this(USUAL_BYTES);
  }

  public ByteOutput(int initialCapacity) {
    this.bytes = new byte[Math.max(LEAST_CAPACITY, initialCapacity)];
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

  public ByteOutput writeByte(int value) {
    write(value);
    return this;
  }

  /** Writes the bytes alone: for what is of fixed width or comes last. */
  public ByteOutput writeBytes(byte[] source) {
    write(source, 0, source.length);
    return this;
  }

  /** Writes {@code value}, not negative, in one to five bytes of seven bits, lowest first. */
  public ByteOutput writeVarInt(int value) {
    int rest = value;
    while ((rest & ~0x7F) != 0) {
      write((rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    write(rest);
    return this;
  }

  /** Writes {@code value} in one to ten bytes of seven bits, lowest first: few if it is small. */
  public ByteOutput writeVarLong(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      write((int) (rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    write((int) rest);
    return this;
  }

  /** Writes eight bytes, highest first. */
  public ByteOutput writeLong(long value) {
    if (bytes.length - size < Long.BYTES) {
      grow(Long.BYTES);
    }
    for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      bytes[size++] = (byte) (value >>> shift);
    }
    return this;
  }

  /** Writes eight bytes whose unsigned order is the numbers' signed order. */
  public ByteOutput writeOrderedLong(long value) {
    return writeLong(value ^ Long.MIN_VALUE);
  }

  /** Writes the length of {@code source}'s content, then the content. */
  public ByteOutput writeSized(ByteOutput source) {
    writeVarInt(source.size);
    write(source.bytes, 0, source.size);
    return this;
  }

  /** Writes the length, then the bytes. */
  public ByteOutput writeSized(byte[] source) {
    return writeVarInt(source.length).writeBytes(source);
  }

  /** Writes the length in bytes, then the text in UTF-8. */
  public ByteOutput writeSized(String text) {
    return writeSized(text.getBytes(StandardCharsets.UTF_8));
  }

  /** The backing array, valid up to {@link #size()} and until the next write. */
  public byte[] array() {
    return bytes;
  }

  public int size() {
    return size;
  }

  /** Forgets the content; keeps the array, unless something very large has passed. */
  public ByteOutput reset() {
    size = 0;
    if (bytes.length > MAX_KEPT_BYTES) {
      bytes = new byte[USUAL_BYTES];
    }
    return this;
  }

  /** Gives the backing array away and goes on with {@code replacement}, empty. */
  public byte[] swap(byte[] replacement) {
    byte[] given = bytes;
    bytes = replacement;
    size = 0;
    return given;
  }

  /** A copy of the bytes written so far. */
  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  /**
   * An input of the bytes written so far, without a copy: it stays as it is while more is written, but
   * not beyond {@link #reset}.
   */
  public ByteInput input() {
    return new ByteInput(bytes, 0, size);
  }

  private void grow(int needed) {
    long wanted = Math.max((long) size + needed, bytes.length * 2L);
    if ((long) size + needed > MAX_CAPACITY) {
      throw new IllegalStateException(
          "An encoded element, group or row is larger than " + MAX_CAPACITY
              + " bytes, the most one array holds.");
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(wanted, MAX_CAPACITY));
  }
}
