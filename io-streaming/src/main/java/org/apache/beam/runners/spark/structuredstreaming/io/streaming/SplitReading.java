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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamReaderCache.CachedReader;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.MarkRecord.Writer;
import org.apache.beam.sdk.io.UnboundedSource.CheckpointMark;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues;
import org.checkerframework.checker.nullness.qual.Nullable;
import org.joda.time.Instant;

/**
 * One attempt to read one split in one epoch, as the task that consumes the rows sees it.
 *
 * <p>Everything happens on the task's thread, in this order:
 *
 * <ol>
 *   <li>Spark creates the partition reader when the scan's iterator is first asked for a row, and the
 *       reading becomes {@link #current()} on the thread.
 *   <li>The task takes all rows, until the iterator has no more.
 *   <li>When all steps fused to the source have finished their bundles, the task calls {@link
 *       #complete()}, and then reads watermark and statistics.
 *   <li>Spark closes the partition reader at the end of the task. A reader whose batch was not
 *       completed is closed then, and the next attempt starts from the durable mark again.
 * </ol>
 *
 * <p>Rules, for split {@code s} in epoch {@code e}:
 *
 * <pre>
 * start(s, 0)   = fresh, with the watermark at the beginning of time
 * start(s, e)   = the durable mark at e
 * watermark(s)  = clamp(max(watermark of start(s, e), reader's watermark behind the last record))
 * end(s, e)     = start(s, e) if no record was ever asked for, else the reader's mark
 * </pre>
 *
 * <p>{@code end(s, e)} is stored as the durable mark at {@code e + 1} before the task can succeed. A
 * split whose watermark has come to the end of time is finished: it is not read again. One that is
 * drained reads nothing: {@code end(s, e) = start(s, e)}, and its watermark is at the end of time.
 */
public final class SplitReading {
  private static final ThreadLocal<SplitReading> CURRENT = new ThreadLocal<>();
  private static final long MIN_MILLIS = BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis();
  private static final long MAX_MILLIS = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();

  private enum State {
    READING,
    EXHAUSTED,
    COMPLETED,
    FAILED
  }

  private final SourceDescription source;
  private final int splitId;
  private final long epoch;
  private final Writer writer;
  private final SplitStart start;
  private final boolean drained;
  private final ReadBudget budget;
  private final EventTimes eventTimes = new EventTimes();
  private final @Nullable CachedReader<Object> cached;
  private State state = State.READING;
  private long watermarkMillis = MIN_MILLIS;
  private long backlogBytes = UnboundedReader.BACKLOG_UNKNOWN;
  private @Nullable Throwable taskFailure;

  /**
   * Opens or takes up the split's reader and binds the reading to this thread.
   *
   * @param attempt id of the task attempt, larger than that of every earlier attempt
   */
  SplitReading(SourceDescription source, BeamInputPartition partition, long attempt)
      throws IOException {
    this.source = source;
    this.splitId = partition.splitId();
    this.epoch = partition.epoch();
    this.writer = new Writer(source.application(), attempt);
    this.budget =
        ReadBudget.of(
            source.limits(),
            splitId,
            Math.max(1, source.splits().size()),
            epoch,
            partition.readShare());
    try {
      this.start = SplitStart.of(source, splitId, epoch, writer);
      this.drained = partition.isDrained();
      this.cached = start.acquireReader(drained);
    } catch (Throwable e) {
      throw failure("opening the reader", e);
    }
    CURRENT.set(this);
  }

  /**
   * The reading on this thread.
   *
   * @throws IllegalStateException if the thread reads no split: the scan's iterator was not asked
   *     for a row yet, or the partition reader is closed
   */
  public static SplitReading current() {
    SplitReading reading = CURRENT.get();
    if (reading == null) {
      throw new IllegalStateException(
          "No split is being read on the thread " + Thread.currentThread().getName() + ".");
    }
    return reading;
  }

  /** Position of the source among the query's sources, from 0. */
  public int sourceIndex() {
    return source.sourceIndex();
  }

  /** Position of the split among the source's splits, from 0. */
  public int splitId() {
    return splitId;
  }

  /** Full name of the transform that reads the source. */
  public String fullName() {
    return source.fullName();
  }

  /** The epoch that is read. */
  public long epoch() {
    return epoch;
  }

  /** The next element, or null once the batch has ended; then every further call returns null. */
  @Nullable WindowedValue<Object> next() throws IOException {
    if (state != State.READING) {
      return null;
    }
    if (cached == null || !budget.take()) {
      state = State.EXHAUSTED;
      return null;
    }
    try {
      if (!cached.advance()) {
        state = State.EXHAUSTED;
        return null;
      }
      UnboundedReader<Object> reader = cached.reader();
      Object element = reader.getCurrent();
      Instant timestamp = checkTimestamp(reader.getCurrentTimestamp());
      eventTimes.add(timestamp.getMillis());
      return WindowedValues.timestampedValueInGlobalWindow(element, timestamp);
    } catch (Throwable e) {
      throw failure("reading a record", e);
    }
  }

  private Instant checkTimestamp(@Nullable Instant timestamp) {
    if (timestamp == null) {
      throw returnedNull("getCurrentTimestamp");
    }
    long millis = timestamp.getMillis();
    if (millis < MIN_MILLIS || millis > MAX_MILLIS) {
      throw new IllegalArgumentException(
          "The record's timestamp " + timestamp + " is outside of the event times Beam allows, "
              + BoundedWindow.TIMESTAMP_MIN_VALUE + " to " + BoundedWindow.TIMESTAMP_MAX_VALUE + ".");
    }
    return timestamp;
  }

  /**
   * Takes the reader's mark and stores it durably as the start of the following epoch. Called once,
   * by the task that consumed the rows, after the last row and after everything that the rows caused
   * in this task is done. If the task is run again, the later attempt's mark replaces this one.
   *
   * @throws IllegalStateException if there may be rows left, or the reading has failed or been
   *     completed already
   * @throws IOException if the source or its mark coder fails, or the mark cannot be stored; the
   *     message names transform, split and epoch. Nothing of this batch will be finalized then
   */
  public void complete() throws IOException {
    if (state != State.EXHAUSTED) {
      throw new IllegalStateException(
          "Split " + splitId + " of " + source.fullName() + " in epoch " + epoch + " is " + state
              + ": only a reading whose rows have all been taken can be completed.");
    }
    if (cached == null) {
      try {
        if (drained) {
          start.storeDrained(writer);
        } else {
          start.storeFinished();
        }
      } catch (Throwable e) {
        throw failure("storing the mark", e);
      }
      watermarkMillis = MAX_MILLIS;
    } else {
      completeBatch(cached);
    }
    state = State.COMPLETED;
    start.purge();
  }

  private void completeBatch(CachedReader<Object> reader) throws IOException {
    String action = "taking the watermark";
    try {
      MarkRecord end;
      CheckpointMark mark = null;
      if (reader.isStarted()) {
        watermarkMillis = nextWatermark(reader.reader().getWatermark());
        action = "asking for the backlog";
        backlogBytes = Math.max(-1, reader.reader().getSplitBacklogBytes());
        action = "taking the checkpoint mark";
        mark = reader.reader().getCheckpointMark();
        action = "encoding the checkpoint mark";
        byte[] coded = mark == null ? null : reader.encode(mark);
        boolean finished = watermarkMillis >= MAX_MILLIS;
        end =
            coded == null
                ? MarkRecord.notStored(epoch + 1, watermarkMillis, finished, writer)
                : MarkRecord.coded(epoch + 1, watermarkMillis, finished, coded, writer);
      } else {
        end = start.record().carriedTo(epoch + 1, writer);
        watermarkMillis = end.watermarkMillis();
      }
      action = "storing the mark";
      source.checkpoint().writeMark(splitId, end);
      reader.complete(end, mark);
    } catch (Throwable e) {
      throw failure(action, e);
    }
  }

  private IllegalStateException returnedNull(String method) {
    return new IllegalStateException(
        method + " of " + cached.reader().getClass().getName() + " returned null.");
  }

  private long nextWatermark(@Nullable Instant reported) {
    if (reported == null) {
      throw returnedNull("getWatermark");
    }
    long millis = Math.max(MIN_MILLIS, Math.min(MAX_MILLIS, reported.getMillis()));
    return Math.max(start.record().watermarkMillis(), millis);
  }

  /**
   * The split's watermark after this epoch, in milliseconds since 1970, within Beam's range of event
   * times; the end of time if the split has finished. Valid after {@link #complete()}.
   */
  public long watermarkMillis() {
    if (state != State.COMPLETED) {
      throw new IllegalStateException(
          "The watermark of split " + splitId + " of " + source.fullName() + " in epoch " + epoch
              + " is known after complete() only.");
    }
    return watermarkMillis;
  }

  /** Number of rows read so far. */
  public long rows() {
    return eventTimes.count();
  }

  /** Smallest event time read, in milliseconds; {@link Long#MAX_VALUE} without rows. */
  public long minEventTimeMillis() {
    return eventTimes.minMillis();
  }

  /** Largest event time read, in milliseconds; {@link Long#MIN_VALUE} without rows. */
  public long maxEventTimeMillis() {
    return eventTimes.maxMillis();
  }

  /** Average event time read, in milliseconds rounded towards zero; 0 without rows. */
  public long averageEventTimeMillis() {
    return eventTimes.averageMillis();
  }

  /** Bytes the split has not read yet, -1 if unknown. Valid after {@link #complete()}. */
  public long backlogBytes() {
    return backlogBytes;
  }

  /** Told by Spark that the task fails, before it closes the partition reader. */
  void taskFailed(Throwable failure) {
    taskFailure = failure;
  }

  /** Gives the reader back: to the cache if the batch was completed, to its end if not. */
  void close() {
    if (CURRENT.get() == this) {
      CURRENT.remove();
    }
    if (cached != null && state != State.FAILED) {
      if (state == State.COMPLETED) {
        cached.release();
      } else {
        cached.discard(taskFailure);
      }
    }
    state = State.FAILED;
  }

  /** Closes the reader for good and says what failed; a reader that fails to close joins in. */
  private SourceReadException failure(String action, Throwable cause) {
    state = State.FAILED;
    if (cached != null) {
      cached.discard(cause);
    }
    if (cause instanceof OutOfMemoryError fatal) {
      // The executor's JVM is to see this one as it is, and to end.
      throw fatal;
    }
    return new SourceReadException(source.fullName(), splitId, epoch, action, cause);
  }
}
