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
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.io.BoundedSource;
import org.apache.beam.sdk.io.OffsetBasedSource;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.display.DisplayData;

/**
 * A {@link BoundedSource} in a streaming pipeline.
 *
 * <p>A split reads one or more <em>parts</em>, which are splits of the bounded source, one after
 * the other. There are at most as many splits as were asked for, however many parts the bounded
 * source falls into: each split costs a live reader and a durable mark per epoch.
 *
 * <p>The mark counts what has been read; a reader that is restored reads its current part from the
 * beginning and skips that many elements. This demands a source that reads the same elements in the
 * same order each time, as every retry of a bounded read does.
 *
 * <p>Watermark of a split: {@code TIMESTAMP_MIN_VALUE} until {@code start()} or {@code advance()}
 * has found no further element, then {@code TIMESTAMP_MAX_VALUE}.
 */
public final class BoundedReadSource<T> extends UnboundedSource<T, BoundedReadMark> {
  /** Stands in for the size of a source that does not know its own, in bytes. */
  static final long ASSUMED_SIZE_BYTES = 64L << 20;

  private final BoundedSource<T> source;
  private final List<BoundedSource<T>> parts;
  private final long[] partSizesBytes;

  /** Reads {@code source} as a whole until {@link #split} is called. */
  public BoundedReadSource(BoundedSource<T> source) {
    this(source, List.of(source), new long[] {BoundedReader.UNKNOWN_SIZE});
  }

  private BoundedReadSource(
      BoundedSource<T> source, List<BoundedSource<T>> parts, long[] partSizesBytes) {
    this.source = Objects.requireNonNull(source, "source");
    this.parts = List.copyOf(parts);
    this.partSizesBytes = partSizesBytes;
  }

  /** The bounded source this one was made of, unsplit. */
  public BoundedSource<T> boundedSource() {
    return source;
  }

  /** The source's size as {@link SourceSize} has it. */
  public long sizeBytes(PipelineOptions options) throws Exception {
    return SourceSize.of(source, options);
  }

  @Override
  public List<BoundedReadSource<T>> split(int desiredNumSplits, PipelineOptions options)
      throws Exception {
    int desired = Math.max(1, desiredNumSplits);
    List<? extends BoundedSource<T>> bundles = bundles(desired, options);
    // Of a source that has no bundles, as one without data may, there is one split that reads nothing.
    return group(bundles, Math.max(1, Math.min(desired, bundles.size())), options);
  }

  private List<? extends BoundedSource<T>> bundles(int desired, PipelineOptions options)
      throws Exception {
    if (source instanceof OffsetBasedSource<T> offsets && SourceSize.exceedsLong(offsets, options)) {
      return SourceSize.split(offsets, desired, options);
    }
    long size = SourceSize.of(source, options);
    long total = size > 0 ? size : ASSUMED_SIZE_BYTES;
    long bundle = total / desired + (total % desired == 0 ? 0 : 1);
    return source.split(bundle, options);
  }

  /**
   * Deals the bundles out to {@code count} splits, each to the split that has least so far. Bundles
   * keep their order within a split.
   */
  private List<BoundedReadSource<T>> group(
      List<? extends BoundedSource<T>> bundles, int count, PipelineOptions options)
      throws Exception {
    List<Group<T>> groups = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      groups.add(new Group<>(i));
    }
    PriorityQueue<Group<T>> leastFirst =
        new PriorityQueue<>(
            Comparator.comparingLong((Group<T> group) -> group.totalBytes)
                .thenComparingInt(group -> group.parts.size())
                .thenComparingInt(group -> group.index));
    leastFirst.addAll(groups);
    for (BoundedSource<T> bundle : bundles) {
      Group<T> least = leastFirst.remove();
      least.add(bundle, SourceSize.of(bundle, options));
      leastFirst.add(least);
    }
    List<BoundedReadSource<T>> splits = new ArrayList<>();
    for (Group<T> group : groups) {
      long[] sizes = group.sizes.stream().mapToLong(Long::longValue).toArray();
      splits.add(new BoundedReadSource<>(source, group.parts, sizes));
    }
    return splits;
  }

  /**
   * @param mark how far an earlier reader of this split came; null to read from the beginning
   */
  @Override
  public UnboundedReader<T> createReader(PipelineOptions options, BoundedReadMark mark) {
    return new BoundedReader<>(
        this, parts, partSizesBytes, options, mark == null ? BoundedReadMark.START : mark);
  }

  @Override
  public Coder<BoundedReadMark> getCheckpointMarkCoder() {
    return BoundedReadMark.MarkCoder.INSTANCE;
  }

  @Override
  public Coder<T> getOutputCoder() {
    return source.getOutputCoder();
  }

  @Override
  public void validate() {
    source.validate();
  }

  @Override
  public void populateDisplayData(DisplayData.Builder builder) {
    builder.include("source", source);
  }

  @Override
  public String toString() {
    return "BoundedReadSource(" + source + ")";
  }

  private static final class Group<T> {
    private final int index;
    private final List<BoundedSource<T>> parts = new ArrayList<>();
    private final List<Long> sizes = new ArrayList<>();
    private long totalBytes;

    private Group(int index) {
      this.index = index;
    }

    private void add(BoundedSource<T> part, long sizeBytes) {
      parts.add(part);
      boolean known = sizeBytes > 0 && sizeBytes < SourceSize.BEYOND_LONG;
      sizes.add(known ? sizeBytes : BoundedReader.UNKNOWN_SIZE);
      totalBytes = SourceSize.sum(totalBytes, sizeBytes);
    }
  }
}
