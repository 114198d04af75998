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

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Rows that are larger than a store is made for: a key or a value of 100 MB would be there in several
 * copies, of which some are kept. The store's own rows never exceed {@value #PART_BYTES} bytes of
 * value and {@value #KEY_BYTES} bytes of prefix and of suffix.
 *
 * <p>With {@code digest} the SHA-256, which for different bytes is taken to be different:
 *
 * <ul>
 *   <li>A prefix or suffix longer than {@value #KEY_BYTES} bytes is stored as its digest.
 *   <li>A row with such a suffix, or a value of more than {@value #PART_BYTES} bytes, is <em>large</em>:
 *       its stored value is null, and {@code (length of suffix, length of value, suffix, value)} lies in
 *       <em>parts</em> of the same size, {@code (PARTS, digest of prefix and suffix) -> (number)}.
 *   <li>A partition stores how many rows are large. While there are none, what is written need not be
 *       looked for among them: a partition that writes reads that one row an epoch.
 * </ul>
 *
 * <p>The prefixes of this class are shorter than any of a step's rows, or contain a digest.
 */
final class LargeRows {
  static final int KEY_BYTES = 64 << 10;
  static final int PART_BYTES = 4 << 20;

  private static final byte[] COUNT = {0};
  private static final byte PARTS = 1;
  private static final byte[] NONE = {};
  private static final int HEADER_BYTES = 2 * Integer.BYTES;

  private final StoreStateRows rows;
  // Rows that are large, -1 before it is read.
  private long count = -1;
  private boolean countChanged;

  LargeRows(StoreStateRows rows) {
    this.rows = rows;
  }

  /** What is stored for a prefix or a suffix; of what is stored already, the same. */
  static byte[] stored(byte[] key) {
    return key.length <= KEY_BYTES ? key : digest(NONE, key);
  }

  static boolean isLarge(byte[] suffix, byte[] value) {
    return suffix.length > KEY_BYTES || value.length > PART_BYTES;
  }

  /** Writes a large row, of which no parts are there. */
  void write(byte[] prefix, byte[] suffix, byte[] value) {
    byte[] parts = partsOf(prefix, suffix);
    byte[] header =
        ByteBuffer.allocate(HEADER_BYTES).putInt(suffix.length).putInt(value.length).array();
    byte[] part = new byte[(int) Math.min(PART_BYTES, (long) HEADER_BYTES + suffix.length + value.length)];
    int filled = 0;
    int number = 0;
    for (byte[] piece : new byte[][] {header, suffix, value}) {
      int taken = 0;
      while (taken < piece.length) {
        int length = Math.min(piece.length - taken, part.length - filled);
        System.arraycopy(piece, taken, part, filled, length);
        taken += length;
        filled += length;
        if (filled == part.length) {
          rows.putStored(parts, numbered(number++), part);
          filled = 0;
        }
      }
    }
    if (filled > 0) {
      rows.putStored(parts, numbered(number), Arrays.copyOf(part, filled));
    }
    rows.putStored(prefix, suffix, null);
    count(1);
  }

  /**
   * A large row.
   *
   * @param suffix the suffix or what is stored for it
   */
  StateRow read(byte[] prefix, byte[] suffix) {
    byte[] parts = partsOf(prefix, suffix);
    ByteBuffer part = part(parts, 0);
    byte[] wholeSuffix = new byte[part.getInt()];
    byte[] value = new byte[part.getInt()];
    int number = 1;
    for (byte[] piece : new byte[][] {wholeSuffix, value}) {
      int filled = 0;
      while (filled < piece.length) {
        if (!part.hasRemaining()) {
          part = part(parts, number++);
        }
        int length = Math.min(piece.length - filled, part.remaining());
        part.get(piece, filled, length);
        filled += length;
      }
    }
    return new StateRow(wholeSuffix, value);
  }

  /** Removes the parts of a row if it is large; it is then written or removed itself. */
  void forget(byte[] prefix, byte[] suffix) {
    if (count() == 0) {
      return;
    }
    UnsafeRow stored = rows.stored(prefix, suffix);
    if (stored == null || !stored.isNullAt(0)) {
      return;
    }
    byte[] parts = partsOf(prefix, suffix);
    ByteBuffer first = part(parts, 0);
    long bytes = (long) HEADER_BYTES + first.getInt() + first.getInt();
    for (int number = 0; (long) number * PART_BYTES < bytes; number++) {
      rows.removeStored(parts, numbered(number));
    }
    count(-1);
  }

  /** Writes the number of large rows if it has changed. */
  void flush() {
    if (countChanged) {
      rows.putStored(COUNT, NONE, ByteBuffer.allocate(Long.BYTES).putLong(count).array());
      countChanged = false;
    }
  }

  private void count(int more) {
    count = count() + more;
    countChanged = true;
  }

  private long count() {
    if (count < 0) {
      UnsafeRow stored = rows.stored(COUNT, NONE);
      count = stored == null ? 0 : ByteBuffer.wrap(stored.getBinary(0)).getLong();
    }
    return count;
  }

  private ByteBuffer part(byte[] parts, int number) {
    UnsafeRow part = rows.stored(parts, numbered(number));
    if (part == null) {
      throw new IllegalStateException("Part " + number + " of a large row of state is not in its store");
    }
    return ByteBuffer.wrap(part.getBinary(0));
  }

  private static byte[] partsOf(byte[] prefix, byte[] suffix) {
    byte[] digest = digest(stored(prefix), stored(suffix));
    byte[] parts = new byte[1 + digest.length];
    parts[0] = PARTS;
    System.arraycopy(digest, 0, parts, 1, digest.length);
    return parts;
  }

  private static byte[] numbered(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }

  /** Of two byte strings as a pair. */
  private static byte[] digest(byte[] first, byte[] second) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      sha256.update(ByteBuffer.allocate(Integer.BYTES).putInt(first.length).flip());
      sha256.update(first);
      return sha256.digest(second);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JVM has SHA-256", e);
    }
  }
}
