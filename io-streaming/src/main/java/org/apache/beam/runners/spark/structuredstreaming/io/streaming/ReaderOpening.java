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
import java.util.function.LongSupplier;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamReaderCache.CachedReader;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamReaderCache.MarkRestorer;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.io.UnboundedSource.CheckpointMark;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.util.CoderUtils;
import org.checkerframework.checker.nullness.qual.Nullable;

/**
 * What it takes to open a new reader of a split.
 *
 * @param name names the transform and split in logs
 * @param source the split
 * @param options the pipeline's options
 * @param idleTimeoutMillis how long the reader is kept when no epoch asks for it
 * @param committedEpoch the epoch Spark last committed, -1 if unknown
 */
record ReaderOpening<T>(
    String name,
    UnboundedSource<T, ?> source,
    PipelineOptions options,
    long idleTimeoutMillis,
    LongSupplier committedEpoch) {

  /** Makes an opening when one is needed: to deserialize a split for nothing is expensive. */
  @FunctionalInterface
  interface Supplier<T> {
    ReaderOpening<T> get() throws IOException;
  }

  /**
   * A new reader, in use, restored to the start of an epoch.
   *
   * @throws IllegalStateException if {@code epoch > 0} and there is no durable mark
   */
  CachedReader<T> open(String key, long epoch, MarkRestorer restorer) throws IOException {
    byte[] durable = restorer.restore(epoch);
    if (durable == null && epoch > 0) {
      throw new IllegalStateException(
          "There is no durable mark of " + name + " at epoch " + epoch + " from which its reader can"
              + " be restored (" + key + "): the checkpoint is incomplete. " + DurableFile.WHAT_TO_DO);
    }
    boolean fresh = durable == null || restorer.isFresh(durable);
    return openAt(key, epoch, source, fresh ? null : durable, restorer);
  }

  private <M extends CheckpointMark> CachedReader<T> openAt(
      String key,
      long epoch,
      UnboundedSource<T, M> split,
      byte @Nullable [] durable,
      MarkRestorer restorer)
      throws IOException {
    Coder<M> markCoder = split.getCheckpointMarkCoder();
    if (markCoder == null && durable != null) {
      throw new IllegalStateException(
          "There is a durable mark of " + name + " at epoch " + epoch + " but the source "
              + split.getClass().getName() + " has no mark coder to read it. The source has changed"
              + " since the mark was written: run it as it was, or start anew with another"
              + " --checkpointDir.");
    }
    M mark = durable == null ? null : CoderUtils.decodeFromByteArray(markCoder, durable);
    UnboundedReader<T> reader = split.createReader(options, mark);
    if (reader == null) {
      throw new IllegalStateException(
          "createReader of " + split.getClass().getName() + " returned no reader for " + name + ".");
    }
    return new CachedReader<>(key, this, restorer, reader, erase(markCoder), epoch, durable);
  }

  @SuppressWarnings("unchecked") // the coder is given marks of its own source's readers alone
  private static @Nullable Coder<CheckpointMark> erase(
      @Nullable Coder<? extends CheckpointMark> coder) {
    return (Coder<CheckpointMark>) coder;
  }
}
