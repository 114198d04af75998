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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.sdk.io.BoundedSource;
import org.apache.beam.sdk.io.OffsetBasedSource;
import org.apache.beam.sdk.options.PipelineOptions;

/**
 * The estimated size of a bounded source, in bytes: 0 if the source does not know it, {@link
 * #BEYOND_LONG} if it is no number of 64 bits.
 *
 * <p>Beam's sources do not look out for that: of 2^62 numbers of 8 bytes each {@code GenerateSequence}
 * has a size of some negative number, and taken at its word it is split into as many parts as fill any
 * memory. So a negative size is one that is beyond 64 bits, and an {@link OffsetBasedSource} of which
 * the product of offsets and bytes is, whatever it says itself, is divided here.
 */
public final class SourceSize {
  /** The size of a source that has more bytes than a number of 64 bits. */
  public static final long BEYOND_LONG = Long.MAX_VALUE;

  private SourceSize() {}

  static long of(BoundedSource<?> source, PipelineOptions options) throws Exception {
    if (source instanceof OffsetBasedSource<?> offsets && exceedsLong(offsets, options)) {
      return BEYOND_LONG;
    }
    long size = source.getEstimatedSizeBytes(options);
    return size < 0 ? BEYOND_LONG : size;
  }

  /** The sum of two sizes, which is a size. */
  public static long sum(long bytes, long more) {
    return bytes > BEYOND_LONG - more ? BEYOND_LONG : bytes + more;
  }

  /** Whether the bytes between a source's offsets are no number of 64 bits. */
  static boolean exceedsLong(OffsetBasedSource<?> source, PipelineOptions options)
      throws Exception {
    if (source.getBytesPerOffset() == 1 && source.getStartOffset() >= 0) {
      // Never; and a source that reads files by a pattern cannot be asked for its last offset.
      return false;
    }
    long end = end(source, options);
    long offsets = end - source.getStartOffset();
    return end > source.getStartOffset()
        && (offsets < 0 || offsets > BEYOND_LONG / source.getBytesPerOffset());
  }

  /** Divides a source into {@code count} ranges of about as many offsets, without their sizes. */
  static <T> List<OffsetBasedSource<T>> split(
      OffsetBasedSource<T> source, int count, PipelineOptions options) throws Exception {
    long start = source.getStartOffset();
    long end = end(source, options);
    // The difference may have 64 bits of which none is a sign.
    long step = Long.divideUnsigned(end - start, count);
    List<OffsetBasedSource<T>> ranges = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long from = start + i * step;
      ranges.add(source.createSourceForSubrange(from, i == count - 1 ? end : from + step));
    }
    return ranges;
  }

  /** The greatest offset stands for an end that is still to be found out. */
  private static long end(OffsetBasedSource<?> source, PipelineOptions options) throws Exception {
    return source.getEndOffset() == Long.MAX_VALUE
        ? source.getMaxEndOffset(options)
        : source.getEndOffset();
  }
}
