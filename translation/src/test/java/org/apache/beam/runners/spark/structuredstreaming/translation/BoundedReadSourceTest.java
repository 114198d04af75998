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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CoderException;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.io.BoundedSource;
import org.apache.beam.sdk.io.CountingSource;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.util.CoderUtils;
import org.apache.beam.sdk.util.SerializableUtils;
import org.joda.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sources of the runner's own that end. */
class BoundedReadSourceTest {
  private static final PipelineOptions OPTIONS = PipelineOptionsFactory.create();
  private static final AtomicInteger OPEN_READERS = new AtomicInteger();

  @BeforeEach
  void noReaderIsOpen() {
    OPEN_READERS.set(0);
  }

  /** The numbers of a range, each at its own event time in ms; a number has ten bytes. */
  /** Would read what is in it if it were not split. */
  private static final class WithoutBundles extends RangeSource {
    private WithoutBundles() {
      super(0, 50, false);
    }

    @Override
    public List<RangeSource> split(long desiredBundleSizeBytes, PipelineOptions options) {
      return List.of();
    }
  }

  private static class RangeSource extends BoundedSource<Integer> {
    private final int from;
    private final int to;
    private final boolean knowsItsSize;

    private RangeSource(int from, int to, boolean knowsItsSize) {
      this.from = from;
      this.to = to;
      this.knowsItsSize = knowsItsSize;
    }

    @Override
    public List<RangeSource> split(long desiredBundleSizeBytes, PipelineOptions options) {
      int step = (int) Math.min(to - from, Math.max(1, desiredBundleSizeBytes / 10));
      List<RangeSource> bundles = new ArrayList<>();
      for (int start = from; start < to; start += step) {
        bundles.add(new RangeSource(start, Math.min(to, start + step), knowsItsSize));
      }
      return bundles;
    }

    @Override
    public long getEstimatedSizeBytes(PipelineOptions options) {
      return knowsItsSize ? 10L * (to - from) : 0;
    }

    @Override
    public BoundedReader<Integer> createReader(PipelineOptions options) {
      OPEN_READERS.incrementAndGet();
      return new RangeReader(this);
    }

    @Override
    public Coder<Integer> getOutputCoder() {
      return VarIntCoder.of();
    }
  }

  private static final class RangeReader extends BoundedSource.BoundedReader<Integer> {
    private final RangeSource source;
    private int current;

    private RangeReader(RangeSource source) {
      this.source = source;
    }

    @Override
    public boolean start() {
      current = source.from;
      return current < source.to;
    }

    @Override
    public boolean advance() {
      current++;
      return current < source.to;
    }

    @Override
    public Integer getCurrent() {
      return current;
    }

    @Override
    public Instant getCurrentTimestamp() {
      return Instant.ofEpochMilli(current);
    }

    @Override
    public Double getFractionConsumed() {
      return (double) (current - source.from) / (source.to - source.from);
    }

    @Override
    public BoundedSource<Integer> getCurrentSource() {
      return source;
    }

    @Override
    public void close() {
      OPEN_READERS.decrementAndGet();
    }
  }

  private static BoundedReadSource<Integer> range(int to) {
    return new BoundedReadSource<>(new RangeSource(0, to, true));
  }

  private static List<Integer> numbers(int to) {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < to; i++) {
      numbers.add(i);
    }
    return numbers;
  }

  private static <T> BoundedReadMark coded(UnboundedSource<T, BoundedReadMark> source, BoundedReadMark mark)
      throws CoderException {
    Coder<BoundedReadMark> coder = source.getCheckpointMarkCoder();
    return CoderUtils.decodeFromByteArray(coder, CoderUtils.encodeToByteArray(coder, mark));
  }

  /**
   * Reads all of a split, with a new reader from the coded mark behind every {@code perReader}
   * elements (and behind the end, once), and checks timestamps, watermarks and that readers close.
   */
  private static List<Integer> readAll(BoundedReadSource<Integer> split, int perReader)
      throws IOException {
    List<Integer> read = new ArrayList<>();
    BoundedReadMark mark = null;
    boolean ended = false;
    while (!ended) {
      BoundedReadSource<Integer> shipped = SerializableUtils.clone(split);
      UnboundedReader<Integer> reader = shipped.createReader(OPTIONS, mark);
      assertThat(reader.getWatermark(), equalTo(BoundedWindow.TIMESTAMP_MIN_VALUE));
      boolean available = reader.start();
      for (int i = 0; i < perReader && available; i++) {
        assertThat(reader.getWatermark(), equalTo(BoundedWindow.TIMESTAMP_MIN_VALUE));
        assertThat(reader.getCurrentTimestamp(), equalTo(Instant.ofEpochMilli(reader.getCurrent())));
        read.add(reader.getCurrent());
        if (i + 1 < perReader) {
          available = reader.advance();
        }
      }
      ended = !available;
      mark = coded(split, (BoundedReadMark) reader.getCheckpointMark());
      assertThat(mark.done(), equalTo(ended));
      if (ended) {
        assertThat(reader.getWatermark(), equalTo(BoundedWindow.TIMESTAMP_MAX_VALUE));
        assertThat(reader.advance(), equalTo(false));
        assertThrows(NoSuchElementException.class, reader::getCurrent);
        assertThat(OPEN_READERS.get(), equalTo(0));
      }
      reader.close();
      assertThat(OPEN_READERS.get(), equalTo(0));
    }
    UnboundedReader<Integer> behindTheEnd = split.createReader(OPTIONS, mark);
    assertThat(behindTheEnd.getWatermark(), equalTo(BoundedWindow.TIMESTAMP_MAX_VALUE));
    assertThat(behindTheEnd.start(), equalTo(false));
    assertThat(behindTheEnd.getSplitBacklogBytes(), equalTo(0L));
    assertThat(OPEN_READERS.get(), equalTo(0));
    return read;
  }

  @Test
  void readsEachElementOnceHoweverOftenItIsRestored() throws IOException {
    for (int perReader : new int[] {1, 2, 3, 7, 100}) {
      assertThat(readAll(range(7), perReader), equalTo(numbers(7)));
    }
  }

  @Test
  void readsAcrossThePartsOfASplit() throws Exception {
    List<BoundedReadSource<Integer>> splits =
        new BoundedReadSource<>(new RangeSource(0, 50, false)).split(3, OPTIONS);
    for (int perReader : new int[] {1, 4, 1000}) {
      List<Integer> read = new ArrayList<>();
      for (BoundedReadSource<Integer> split : splits) {
        read.addAll(readAll(split, perReader));
      }
      assertThat(read, containsInAnyOrder(numbers(50).toArray()));
    }
  }

  /** Falls into many bundles, whatever size is asked for. */
  private static final class ManyFilesSource extends BoundedSource<Integer> {
    @Override
    public List<RangeSource> split(long desiredBundleSizeBytes, PipelineOptions options) {
      return new RangeSource(0, 100, true).split(10, options);
    }

    @Override
    public long getEstimatedSizeBytes(PipelineOptions options) {
      return 1000;
    }

    @Override
    public BoundedReader<Integer> createReader(PipelineOptions options) {
      throw new IllegalStateException("is always split");
    }

    @Override
    public Coder<Integer> getOutputCoder() {
      return VarIntCoder.of();
    }
  }

  @Test
  void hasNoMoreSplitsThanAskedForAndLosesNoBundle() throws Exception {
    List<BoundedReadSource<Integer>> splits =
        new BoundedReadSource<>(new ManyFilesSource()).split(8, OPTIONS);

    assertThat(splits, hasSize(8));
    List<Integer> read = new ArrayList<>();
    for (BoundedReadSource<Integer> split : splits) {
      List<Integer> ofSplit = readAll(split, 5);
      assertThat(ofSplit.size(), lessThanOrEqualTo(13));
      read.addAll(ofSplit);
    }
    assertThat(read, containsInAnyOrder(numbers(100).toArray()));
  }

  /** BigQuery's source of a table without data has no bundles, and must not be read unsplit. */
  @Test
  void ofASourceWithoutBundlesNothingIsRead() throws Exception {
    List<BoundedReadSource<Integer>> splits =
        new BoundedReadSource<>(new WithoutBundles()).split(3, OPTIONS);
    assertThat(splits, hasSize(1));
    assertThat(readAll(splits.get(0), 1), hasSize(0));
  }

  @Test
  void splitsEvenlyByEstimatedSize() throws Exception {
    List<BoundedReadSource<Integer>> splits = range(100).split(4, OPTIONS);

    assertThat(splits, hasSize(4));
    for (BoundedReadSource<Integer> split : splits) {
      assertThat(readAll(split, 1000), hasSize(25));
    }
    assertThat(range(0).split(4, OPTIONS), hasSize(1));
    assertThat(readAll(range(0).split(4, OPTIONS).get(0), 1), hasSize(0));
  }

  @Test
  void backlogIsWhatIsLeftOfTheEstimatedSize() throws Exception {
    BoundedReadSource<Integer> split =
        new BoundedReadSource<>(new ManyFilesSource()).split(1, OPTIONS).get(0);
    UnboundedReader<Integer> reader = split.createReader(OPTIONS, null);
    assertThat(reader.getSplitBacklogBytes(), equalTo(1000L));
    reader.start();
    for (int i = 0; i < 40; i++) {
      reader.advance();
    }
    assertThat(reader.getSplitBacklogBytes(), equalTo(600L));
    reader.close();

    UnboundedReader<Integer> unsplit = range(5).createReader(OPTIONS, null);
    assertThat(unsplit.getSplitBacklogBytes(), equalTo(UnboundedReader.BACKLOG_UNKNOWN));
  }

  @Test
  void saysSoWhenASourceIsShorterTheSecondTime() throws IOException {
    UnboundedReader<Integer> reader =
        range(3).createReader(OPTIONS, new BoundedReadMark(0, 5, false));

    IOException shorter = assertThrows(IOException.class, reader::start);

    assertThat(
        shorter.getMessage(),
        containsString("5 elements had been read of part 0"));
    assertThat(shorter.getMessage(), containsString("gave only 3"));
    reader.close();
    assertThat(OPEN_READERS.get(), equalTo(0));
  }

  @Test
  void markOfAnotherVersionIsRefused() {
    byte[] coded = new byte[14];
    coded[0] = 9;
    CoderException refused =
        assertThrows(
            CoderException.class,
            () -> CoderUtils.decodeFromByteArray(range(1).getCheckpointMarkCoder(), coded));
    assertThat(
        refused.getMessage(), equalTo("Mark of a bounded read has version 9, only 1 is known."));
  }

  @Test
  void marksAreFinalizedWithoutEffect() throws IOException {
    UnboundedReader<Integer> reader = range(2).createReader(OPTIONS, null);
    reader.start();
    reader.getCheckpointMark().finalizeCheckpoint();
    assertThat(reader.advance(), equalTo(true));
    assertThat(reader.getCurrent(), equalTo(1));
    reader.close();
  }

  @Test
  void impulseIsOneEmptyArrayAtTheBeginningOfTime() throws IOException {
    ImpulseSource impulse = SerializableUtils.clone(new ImpulseSource());
    assertThat(impulse.split(10, OPTIONS), hasSize(1));
    UnboundedReader<byte[]> reader = impulse.createReader(OPTIONS, null);

    assertThat(reader.start(), equalTo(true));
    assertThat(reader.getCurrent().length, equalTo(0));
    assertThat(reader.getCurrentTimestamp(), equalTo(BoundedWindow.TIMESTAMP_MIN_VALUE));
    assertThat(reader.getWatermark(), equalTo(BoundedWindow.TIMESTAMP_MIN_VALUE));
    BoundedReadMark behind = coded(impulse, (BoundedReadMark) reader.getCheckpointMark());

    UnboundedReader<byte[]> restored = impulse.createReader(OPTIONS, behind);
    for (UnboundedReader<byte[]> each : List.of(restored, reader)) {
      assertThat(each == restored ? each.start() : each.advance(), equalTo(false));
      assertThat(each.getWatermark(), equalTo(BoundedWindow.TIMESTAMP_MAX_VALUE));
      assertThrows(NoSuchElementException.class, each::getCurrent);
    }
    BoundedReadMark done = coded(impulse, (BoundedReadMark) reader.getCheckpointMark());
    UnboundedReader<byte[]> ended = impulse.createReader(OPTIONS, done);
    assertThat(ended.getWatermark(), equalTo(BoundedWindow.TIMESTAMP_MAX_VALUE));
    assertThat(ended.start(), equalTo(false));
  }

  @Test
  void emptySourceEndsAtOnce() throws IOException {
    EmptySource<String> empty = SerializableUtils.clone(new EmptySource<>(StringUtf8Coder.of()));
    UnboundedReader<String> reader = empty.split(3, OPTIONS).get(0).createReader(OPTIONS, null);

    assertThat(reader.start(), equalTo(false));
    assertThat(reader.getWatermark(), equalTo(BoundedWindow.TIMESTAMP_MAX_VALUE));
    assertThat(((BoundedReadMark) reader.getCheckpointMark()).done(), equalTo(true));
    reader.close();
  }

  @SuppressWarnings("deprecation") // what GenerateSequence is made of is to be had in no other way
  private static BoundedSource<Long> upTo(long end) {
    return CountingSource.upTo(end);
  }

  /** What Beam itself makes millions of millions of parts of: its size is no number of 64 bits. */
  @ParameterizedTest
  @ValueSource(
      longs = {Long.MAX_VALUE / 2, Long.MAX_VALUE / 2 + 12345, Long.MAX_VALUE - 1, Long.MAX_VALUE})
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aSequenceWithoutEndFallsIntoAsManySplitsAsAreAskedFor(long to) throws Exception {
    BoundedReadSource<Long> sequence = new BoundedReadSource<>(upTo(to));
    assertThat(sequence.sizeBytes(OPTIONS), is(SourceSize.BEYOND_LONG));
    List<BoundedReadSource<Long>> splits = sequence.split(7, OPTIONS);
    assertThat(splits, hasSize(7));
    for (BoundedReadSource<Long> split : splits) {
      try (UnboundedReader<Long> reader = split.createReader(OPTIONS, null)) {
        assertThat(reader.start(), is(true));
      }
    }
  }

  @Test
  void theSizeOfAnOrdinarySourceIsItsOwn() throws Exception {
    assertThat(range(100).sizeBytes(OPTIONS), is(1000L));
    assertThat(new BoundedReadSource<>(upTo(1000)).sizeBytes(OPTIONS), is(8000L));
    assertThat(
        new BoundedReadSource<>(new RangeSource(5, 0, true)).sizeBytes(OPTIONS),
        is(SourceSize.BEYOND_LONG));
  }
}
