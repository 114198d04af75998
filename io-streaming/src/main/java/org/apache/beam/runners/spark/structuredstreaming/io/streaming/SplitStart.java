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
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamReaderCache.MarkRestorer;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.MarkRecord.Kind;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.MarkRecord.Writer;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.checkerframework.checker.nullness.qual.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a split stands when an epoch starts, and what follows from that: whether there is anything
 * to read, by which reader, and which older marks are past use.
 */
final class SplitStart implements MarkRestorer {
  private static final Logger LOG = LoggerFactory.getLogger(SplitStart.class);

  private final SourceDescription source;
  private final int splitId;
  private final long epoch;
  private final @Nullable MarkRecord record;

  private SplitStart(
      SourceDescription source, int splitId, long epoch, @Nullable MarkRecord record) {
    this.source = source;
    this.splitId = splitId;
    this.epoch = epoch;
    this.record = record;
  }

  /**
   * Reads the durable mark at the epoch.
   *
   * @throws IllegalStateException if there is none although the epoch is not the first
   */
  static SplitStart of(SourceDescription source, int splitId, long epoch, Writer writer)
      throws IOException {
    if (source.splits().isEmpty()) {
      return new SplitStart(source, splitId, epoch, null);
    }
    if (epoch == 0) {
      // Marks that lie here already are leftovers of attempts at this very epoch.
      long beginning = BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis();
      return new SplitStart(source, splitId, epoch, MarkRecord.fresh(0, beginning, writer));
    }
    MarkRecord record = source.checkpoint().readMark(splitId, epoch);
    if (record == null) {
      throw new IllegalStateException(
          "There is no durable mark of split " + splitId + " of " + source.fullName()
              + " at epoch " + epoch + " under " + source.checkpoint().location()
              + ": the checkpoint is incomplete. " + DurableFile.WHAT_TO_DO);
    }
    return new SplitStart(source, splitId, epoch, record);
  }

  /** The record the epoch starts from. A source that split into nothing has none. */
  MarkRecord record() {
    if (record == null) {
      throw new IllegalStateException(source.fullName() + " has no splits and so no marks.");
    }
    return record;
  }

  /**
   * The split's reader, positioned at the epoch; null if there is nothing to read: then a reader that
   * is still there is let go of, as what it has read is committed.
   *
   * @param drained whether nothing is read any more, though the split has not come to its end
   */
  @Nullable CachedReader<Object> acquireReader(boolean drained) throws IOException {
    if (record == null) {
      return null;
    }
    String key = source.readerKey(splitId);
    if (drained || record.isFinished()) {
      BeamReaderCache.retireFinished(key, epoch, this);
      return null;
    }
    return BeamReaderCache.acquire(key, epoch, this::opening, this);
  }

  /**
   * How to make a new reader. One without a mark gives again what its split has given before: that is
   * what the user asks for by a start of the query, but an attempt at a later epoch, after a failure
   * or on another executor, would add it to what the start's committed epochs have made of it.
   */
  @SuppressWarnings("unchecked") // elements are taken for objects from here on
  private ReaderOpening<Object> opening() {
    if (record().kind() == Kind.NOT_STORED && epoch != source.resumedEpoch()) {
      throw new IllegalStateException(
          "The reader of split " + splitId + " is lost, by a failure, its idle time-out or a move to"
              + " another executor, and cannot be restored at epoch " + epoch + ": the source has no"
              + " checkpoint mark coder, or its reader returned null for a mark. Read from its"
              + " beginning it would repeat what epochs from " + source.resumedEpoch() + " on have"
              + " read. Start the pipeline again to read it anew into the state that is there, or"
              + " anew with another --checkpointDir.");
    }
    String name = source.fullName() + ", split " + splitId;
    UnboundedSource<Object, ?> split =
        (UnboundedSource<Object, ?>)
            ShippedObject.decode(source.splits().get(splitId), "the source of " + name);
    return new ReaderOpening<>(
        name,
        split,
        source.options().get(),
        source.readerIdleTimeoutMillis(),
        source.checkpoint()::readSparkCommittedEpoch);
  }

  @Override
  public byte[] restore(long atEpoch) {
    return record().coded();
  }

  @Override
  public boolean isFresh(byte[] mark) {
    return record().kind() != Kind.CODED;
  }

  /** At epoch 0 no batch was completed, so whatever is cached is of another time. */
  @Override
  public boolean confirms(long atEpoch, CachedReader<?> reader) throws IOException {
    if (atEpoch == 0) {
      return false;
    }
    MarkRecord durable =
        atEpoch == epoch ? record() : source.checkpoint().readMark(splitId, atEpoch);
    return durable != null && durable.writer().equals(reader.writer());
  }

  /**
   * Stores, in the first epoch that starts finished, that all following ones do. The epoch that
   * finished the split is committed by then, so its mark is the one that counts.
   */
  void storeFinished() throws IOException {
    if (record != null && record.epoch() == epoch) {
      source.checkpoint().writeFinished(splitId, record);
    }
  }

  /**
   * Stores that the split is at the end of time from the following epoch on, still with the position
   * that it has come to.
   */
  void storeDrained(Writer writer) throws IOException {
    if (record == null || record.isFinished()) {
      storeFinished();
    } else {
      source.checkpoint().writeMark(splitId, record.drainedAt(epoch + 1, writer));
    }
  }

  /** Deletes the one mark that falls out of what is retained when this epoch is completed. */
  void purge() {
    long outdated = epoch - source.minEpochsToRetain();
    if (outdated < 1 || record == null || record.isFinished()) {
      return;
    }
    try {
      source.checkpoint().deleteMark(splitId, outdated);
    } catch (IOException e) {
      // It costs space until the next start of the query deletes it, and nothing else.
      LOG.warn("Split {} of {} keeps an outdated mark.", splitId, source.fullName(), e);
    }
  }
}
