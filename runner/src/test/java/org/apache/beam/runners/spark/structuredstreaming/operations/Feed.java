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
package org.apache.beam.runners.spark.structuredstreaming.operations;

import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.io.UnboundedSource.CheckpointMark;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.joda.time.Instant;

/**
 * What an unbounded source of one split gives, in the hands of a test: numbers, each with itself as
 * its timestamp in millis, the watermark at the last number until the feed ends, and failures where
 * the test asks for them. It lives in this JVM's memory and so is for local masters.
 */
final class Feed {
  private static final Map<Long, Feed> FEEDS = new ConcurrentHashMap<>();
  private static final AtomicLong NEXT_ID = new AtomicLong();

  private final long id = NEXT_ID.getAndIncrement();
  private final List<Long> numbers = new ArrayList<>();
  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicInteger closed = new AtomicInteger();
  private boolean ended;
  private volatile boolean emptyAtFirst;
  private volatile Point failingPoint;
  private volatile Point nullPoint;
  private volatile Supplier<? extends Throwable> failure;

  /** A method of the source, its reader or its mark's coder. */
  enum Point {
    SPLIT,
    DESERIALIZE_SPLIT,
    CREATE_READER,
    START,
    ADVANCE,
    GET_CURRENT,
    GET_TIMESTAMP,
    GET_WATERMARK,
    GET_BACKLOG,
    GET_MARK,
    GET_MARK_CODER,
    CLOSE,
    ENCODE_MARK,
    DECODE_MARK
  }

  Feed() {
    FEEDS.put(id, this);
  }

  static Feed of(long... numbers) {
    Feed feed = new Feed();
    feed.add(numbers);
    return feed;
  }

  synchronized Feed add(long... more) {
    for (long number : more) {
      numbers.add(number);
    }
    return this;
  }

  /** After the numbers that are there the watermark comes to the end of time. */
  synchronized Feed end() {
    ended = true;
    return this;
  }

  /** Every reader, whatever its mark, has nothing the first time it is asked. */
  Feed emptyAtFirst() {
    emptyAtFirst = true;
    return this;
  }

  Feed failAt(Point point, Supplier<? extends Throwable> thrown) {
    failure = thrown;
    failingPoint = point;
    return this;
  }

  void failNoMore() {
    failingPoint = null;
    nullPoint = null;
  }

  /** Lets a method of the source or its reader return null. */
  Feed returnNullAt(Point point) {
    nullPoint = point;
    return this;
  }

  int opened() {
    return opened.get();
  }

  int closed() {
    return closed.get();
  }

  UnboundedSource<Long, Mark> source() {
    return new FeedSource(id, false);
  }

  private synchronized boolean has(int index) {
    return index < numbers.size();
  }

  private synchronized long get(int index) {
    return numbers.get(index);
  }

  private synchronized Instant watermark(int read) {
    if (ended && read == numbers.size()) {
      return BoundedWindow.TIMESTAMP_MAX_VALUE;
    }
    return read == 0 ? BoundedWindow.TIMESTAMP_MIN_VALUE : Instant.ofEpochMilli(numbers.get(read - 1));
  }

  private void reached(Point point) {
    if (failingPoint == point) {
      throw Feed.<RuntimeException>sneaky(failure.get());
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // the cast is never executed
  static <E extends Throwable> RuntimeException sneaky(Throwable failure) throws E {
    throw (E) failure;
  }

  /** Numbers read. */
  record Mark(long feed, int read) implements CheckpointMark, Serializable {
    @Override
    public void finalizeCheckpoint() {}
  }

  private static final class MarkCoder extends CustomCoder<Mark> {
    @Override
    public void encode(Mark mark, OutputStream out) throws IOException {
      FEEDS.get(mark.feed()).reached(Point.ENCODE_MARK);
      VarLongCoder.of().encode(mark.feed(), out);
      VarLongCoder.of().encode((long) mark.read(), out);
    }

    @Override
    public Mark decode(InputStream in) throws IOException {
      long feed = VarLongCoder.of().decode(in);
      FEEDS.get(feed).reached(Point.DECODE_MARK);
      return new Mark(feed, VarLongCoder.of().decode(in).intValue());
    }
  }

  private static final class FeedSource extends UnboundedSource<Long, Mark> {
    private final long id;
    private final boolean isSplit;

    FeedSource(long id, boolean isSplit) {
      this.id = id;
      this.isSplit = isSplit;
    }

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
      in.defaultReadObject();
      if (isSplit) {
        FEEDS.get(id).reached(Point.DESERIALIZE_SPLIT);
      }
    }

    @Override
    public List<FeedSource> split(int desired, PipelineOptions options) {
      FEEDS.get(id).reached(Point.SPLIT);
      return List.of(new FeedSource(id, true));
    }

    @Override
    public UnboundedReader<Long> createReader(PipelineOptions options, Mark mark) {
      Feed feed = FEEDS.get(id);
      feed.reached(Point.CREATE_READER);
      feed.opened.incrementAndGet();
      return new FeedReader(this, feed, mark == null ? 0 : mark.read());
    }

    @Override
    public Coder<Mark> getCheckpointMarkCoder() {
      FEEDS.get(id).reached(Point.GET_MARK_CODER);
      return FEEDS.get(id).nullPoint == Point.GET_MARK_CODER ? null : new MarkCoder();
    }

    @Override
    public Coder<Long> getOutputCoder() {
      return VarLongCoder.of();
    }
  }

  private static final class FeedReader extends UnboundedSource.UnboundedReader<Long> {
    private final FeedSource source;
    private final Feed feed;
    private int read;
    private boolean current;

    FeedReader(FeedSource source, Feed feed, int read) {
      this.source = source;
      this.feed = feed;
      this.read = read;
    }

    @Override
    public boolean start() {
      feed.reached(Point.START);
      return !feed.emptyAtFirst && move();
    }

    @Override
    public boolean advance() {
      feed.reached(Point.ADVANCE);
      return move();
    }

    private boolean move() {
      current = feed.has(read);
      if (current) {
        read++;
      }
      return current;
    }

    @Override
    public Long getCurrent() {
      feed.reached(Point.GET_CURRENT);
      if (!current) {
        throw new NoSuchElementException();
      }
      return feed.get(read - 1);
    }

    @Override
    public Instant getCurrentTimestamp() {
      feed.reached(Point.GET_TIMESTAMP);
      return feed.nullPoint == Point.GET_TIMESTAMP ? null : Instant.ofEpochMilli(feed.get(read - 1));
    }

    @Override
    public Instant getWatermark() {
      feed.reached(Point.GET_WATERMARK);
      return feed.nullPoint == Point.GET_WATERMARK ? null : feed.watermark(read);
    }

    @Override
    public CheckpointMark getCheckpointMark() {
      feed.reached(Point.GET_MARK);
      return feed.nullPoint == Point.GET_MARK ? null : new Mark(feed.id, read);
    }

    @Override
    public long getSplitBacklogBytes() {
      feed.reached(Point.GET_BACKLOG);
      synchronized (feed) {
        return 8L * (feed.numbers.size() - read);
      }
    }

    @Override
    public UnboundedSource<Long, ?> getCurrentSource() {
      return source;
    }

    @Override
    public void close() {
      feed.closed.incrementAndGet();
      feed.reached(Point.CLOSE);
    }
  }
}
