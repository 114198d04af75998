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

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A growing array of bytes for row keys and values. Fixed-width numbers are big endian; a
 * <em>part</em> is preceded by its length, so that a sequence of parts is unambiguous whatever
 * bytes they hold. Not thread-safe.
 */
public final class ByteWriter extends OutputStream {
  private static final int USUAL_BYTES = 64;
  private static final int MAX_KEPT_BYTES = 1 << 20;

  private byte[] buffer;
  private int length;

  public ByteWriter() {
    this(USUAL_BYTES);
  }

  public ByteWriter(int initialCapacity) {
    this.buffer = new byte[Math.max(initialCapacity, 8)];
  }

  @Override
  public void write(int value) {
    reserve(1);
    buffer[length++] = (byte) value;
  }

  @Override
  public void write(byte[] bytes, int offset, int count) {
    reserve(count);
    System.arraycopy(bytes, offset, buffer, length, count);
    length += count;
  }

  /** The bytes alone: to be used only for what is of fixed width or comes last. */
  public ByteWriter bytes(byte[] bytes) {
    write(bytes, 0, bytes.length);
    return this;
  }

  public ByteWriter int8(int value) {
    write(value);
    return this;
  }

  /** Eight bytes. */
  public ByteWriter int64(long value) {
    reserve(Long.BYTES);
    for (int shift = 56; shift >= 0; shift -= 8) {
      buffer[length++] = (byte) (value >>> shift);
    }
    return this;
  }

  /** Eight bytes whose unsigned order is the numbers' signed order. */
  public ByteWriter orderedInt64(long value) {
    return int64(value ^ Long.MIN_VALUE);
  }

  /** A number that is small and not negative most of the time: one to ten bytes. */
  public ByteWriter varint(long value) {
    reserve(10);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      buffer[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    buffer[length++] = (byte) rest;
    return this;
  }

  /** The length as a varint, then the bytes. */
  public ByteWriter part(byte[] bytes) {
    varint(bytes.length);
    return bytes(bytes);
  }

  /** The length in bytes as a varint, then the text in UTF-8. */
  public ByteWriter part(String text) {
    return part(text.getBytes(StandardCharsets.UTF_8));
  }

  /** All that {@code other} holds, as a part. */
  public ByteWriter part(ByteWriter other) {
    varint(other.length);
    write(other.buffer, 0, other.length);
    return this;
  }

  public int length() {
    return length;
  }

  /** Forgets all bytes; keeps the memory, unless something very large has passed. */
  public ByteWriter reset() {
    length = 0;
    if (buffer.length > MAX_KEPT_BYTES) {
      buffer = new byte[USUAL_BYTES];
    }
    return this;
  }

  /** A copy of the bytes written so far. */
  public byte[] toByteArray() {
    return Arrays.copyOf(buffer, length);
  }

  /**
   * A reader of the bytes written so far, without a copy: it stays as it is while more is written,
   * but not beyond {@link #reset}.
   */
  ByteReader reader() {
    return new ByteReader(buffer, 0, length);
  }

  private void reserve(int count) {
    int needed = Math.addExact(length, count);
    if (needed > buffer.length) {
      // Doubling in long arithmetic: past 1 GiB the doubled length is no int any more.
      long doubled = Math.min(buffer.length * 2L, Integer.MAX_VALUE - 16);
      buffer = Arrays.copyOf(buffer, (int) Math.max(needed, doubled));
    }
  }
}
