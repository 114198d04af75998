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

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.io.UnboundedSource.CheckpointMark;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.util.CoderUtils;
import org.checkerframework.checker.nullness.qual.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The live readers of one executor JVM, by checkpoint location and split.
 *
 * <p>An entry is either <em>in use</em> by exactly one task attempt or <em>idle</em>. An idle entry
 * is positioned at an epoch {@code p} and may hold a pending mark, taken there: {@code pending(p)}
 * covers all epochs before {@code p}. The rules:
 *
 * <ol>
 *   <li>A batch that starts at {@code s} gets the cached reader iff the entry is idle, {@code p = s}
 *       and its restorer confirms that this very reader wrote the durable mark at {@code s}.
 *   <li>{@code pending(p)} is finalized, on the live mark object, iff this reader wrote the durable
 *       mark at {@code p} and epoch {@code p - 1} is committed: when a batch starts at {@code s = p}
 *       (Spark starts no epoch before the one before is committed), or when a reader is retired and
 *       the commit log says so. It is finalized at most once and, as an entry holds one at a time, in
 *       the order in which marks were taken.
 *   <li>In every other case the entry is closed without finalizing, and the next reader is restored
 *       from the durable mark at its start epoch.
 *   <li>A second attempt that finds the entry in use never waits for it and never shares it: it
 *       restores a reader of its own, which takes the entry's place. The first attempt's reader is
 *       closed when that attempt lets go of it.
 *   <li>A reader that is let go of without having completed its batch is closed.
 *   <li>An idle entry with {@code p < s} is retired once a task of its query has begun epoch {@code s} here.
 * </ol>
 *
 * <p>A daemon thread, which lives as long as there are entries, retires those of rule 6 and readers idle
 * for longer than their time-out. The time-out should exceed the longest gap between two epochs. Failures
 * to finalize or to close are logged and otherwise ignored: for Beam both are best effort.
 *
 * <p>Thread-safe. No lock is held while a source's code runs or a file is read.
 */
public final class BeamReaderCache {
  private static final Logger LOG = LoggerFactory.getLogger(BeamReaderCache.class);
  private static final Object LOCK = new Object();

  @GuardedBy("LOCK")
  private static final Map<String, CachedReader<?>> READERS = new HashMap<>();

  @GuardedBy("LOCK")
  private static @Nullable Thread sweeper;

  private BeamReaderCache() {}

  /** Knows the durable marks of one split. Called by the thread that acquires the reader. */
  @FunctionalInterface
  interface MarkRestorer {
    /** The encoded mark from which the epoch starts, or null if there is none. */
    byte @Nullable [] restore(long epoch) throws IOException;

    /** Whether the mark says to start without one. */
    default boolean isFresh(byte[] mark) {
      return mark.length == 0;
    }

    /**
     * Whether a reader positioned at the epoch is the one that wrote the durable mark there. If
     * another attempt wrote it, the reader may stand somewhere else in its split.
     */
    default boolean confirms(long epoch, CachedReader<?> reader) throws IOException {
      return true;
    }
  }

  /** The key of one split's reader. */
  public static String key(String checkpointLocation, int splitId) {
    return checkpointLocation + "#" + splitId;
  }

  /**
   * Returns the reader of {@code key} positioned at {@code startEpoch}: the cached one if it stands
   * there, after finalizing its pending mark, else a new one restored from the durable mark. The
   * caller's thread owns the reader until it calls {@link CachedReader#release()}.
   *
   * @param key see {@link #key}
   * @param startEpoch the epoch about to be read; every epoch before it is committed
   * @param source the split, for a new reader
   * @param options the pipeline's options, for a new reader
   * @param idleTimeoutMillis how long a new reader is kept when no epoch asks for it
   * @param committedEpoch the epoch Spark last committed, -1 if unknown; called by the sweeper
   * @param restorer gives the durable mark; a fresh one of zero length means a fresh start
   * @throws IllegalStateException if {@code startEpoch > 0} and no durable mark exists
   * @throws IOException if the durable mark cannot be read or decoded, or the reader not be created
   */
  public static <T> CachedReader<T> acquire(
      String key,
      long startEpoch,
      UnboundedSource<T, ?> source,
      PipelineOptions options,
      long idleTimeoutMillis,
      LongSupplier committedEpoch,
      MarkRestorer restorer)
      throws IOException {
    return acquire(
        key,
        startEpoch,
        () -> new ReaderOpening<>(key, source, options, idleTimeoutMillis, committedEpoch),
        restorer);
  }

  /** As the public method, but what a new reader needs is only asked for if one is needed. */
  static <T> CachedReader<T> acquire(
      String key, long startEpoch, ReaderOpening.Supplier<T> opening, MarkRestorer restorer)
      throws IOException {
    CachedReader<T> cached = takeIfPositioned(key, startEpoch, restorer);
    if (cached != null) {
      cached.finalizePending();
      return cached;
    }
    CachedReader<T> opened = opening.get().open(key, startEpoch, restorer);
    synchronized (LOCK) {
      READERS.put(key, opened);
      if (sweeper == null) {
        sweeper = new Thread(BeamReaderCache::sweep, "beam-reader-cache-sweeper");
        sweeper.setDaemon(true);
        sweeper.start();
      }
    }
    return opened;
  }

  /**
   * Lets go of a split that has finished: the start of an epoch proves the one before committed, so
   * a reader that stands there is finalized and closed, and any other closed. Cheap when there is
   * none.
   */
  static void retireFinished(String key, long startEpoch, MarkRestorer restorer)
      throws IOException {
    CachedReader<?> cached = takeIfPositioned(key, startEpoch, restorer);
    if (cached != null) {
      cached.finalizePending();
      cached.discard(null);
    }
  }

  /** The idle entry, now in use, if rule 1 holds; otherwise none, and a useless one is closed. */
  @SuppressWarnings("unchecked") // a key belongs to one split of one source
  private static <T> @Nullable CachedReader<T> takeIfPositioned(
      String key, long startEpoch, MarkRestorer restorer) throws IOException {
    CachedReader<?> cached;
    boolean positioned;
    synchronized (LOCK) {
      cached = READERS.get(key);
      if (cached == null || cached.inUse) {
        return null;
      }
      cached.inUse = true;
      positioned = cached.completed && cached.epoch == startEpoch;
      cached.completed = false;
    }
    boolean confirmed = false;
    try {
      confirmed = positioned && restorer.confirms(startEpoch, cached);
    } finally {
      if (!confirmed) {
        LOG.info("Closing the reader of {}, positioned at epoch {}: epoch {} starts from its durable mark.",
            cached.name, cached.epoch, startEpoch);
        cached.discard(null);
      }
    }
    return confirmed ? (CachedReader<T>) cached : null;
  }

  /** Closes and forgets the reader of {@code key}, nothing is finalized. */
  public static void invalidate(String key) {
    take(reader -> reader.key.equals(key)).forEach(reader -> reader.discard(null));
  }

  /** Closes and forgets every cached reader, nothing is finalized. */
  public static void invalidateAll() {
    take(reader -> true).forEach(reader -> reader.discard(null));
  }

  /**
   * Retires the readers of a query that has ended, those of this JVM: to be called in each executor,
   * or left to the sweepers there. Finalizes the marks whose epoch Spark committed, closes and forgets
   * the readers. One that a task still holds is closed by that task, without finalizing.
   *
   * @param checkpointDir root checkpoint location of the query
   */
  public static void retireAll(String checkpointDir) {
    take(reader -> reader.key.startsWith(checkpointDir + "/")).forEach(CachedReader::retire);
    SourceDescription.unload(checkpointDir);
  }

  /** Lets the sweeper retire, by rule 6, what an epoch leaves behind that a query's task has begun here. */
  public static void epochBegun(String checkpointDir, long epoch) {
    synchronized (LOCK) {
      READERS.values().stream()
          .filter(idle -> !idle.inUse && idle.epoch < epoch && idle.key.startsWith(checkpointDir + "/"))
          .forEach(CachedReader::makeDue);
      LOCK.notifyAll();
    }
  }

  /** Number of entries, for tests. */
  static int size() {
    synchronized (LOCK) {
      return READERS.size();
    }
  }

  /** Forgets all entries that match, and returns the idle ones: the caller closes them. */
  private static List<CachedReader<?>> take(Predicate<CachedReader<?>> matching) {
    List<CachedReader<?>> idle = new ArrayList<>();
    synchronized (LOCK) {
      Iterator<CachedReader<?>> readers = READERS.values().iterator();
      while (readers.hasNext()) {
        CachedReader<?> reader = readers.next();
        if (matching.test(reader)) {
          readers.remove();
          if (!reader.inUse) {
            reader.inUse = true;
            idle.add(reader);
          }
        }
      }
      LOCK.notifyAll();
    }
    return idle;
  }

  /** The sweeper's life: it ends when there is no entry left. */
  private static void sweep() {
    while (true) {
      List<CachedReader<?>> overdue;
      synchronized (LOCK) {
        overdue = take(reader -> !reader.inUse && reader.nanosUntilDue() <= 0);
        if (overdue.isEmpty()) {
          if (READERS.isEmpty()) {
            sweeper = null;
            return;
          }
          try {
            LOCK.wait(millisUntilNextDue());
          } catch (InterruptedException e) {
            // Nobody has a reason to interrupt this thread: the next new reader starts another.
            sweeper = null;
            return;
          }
        }
      }
      overdue.forEach(CachedReader::retire);
    }
  }

  /** How long no entry can become due unless it is given back meanwhile; at most a minute. */
  @GuardedBy("LOCK")
  private static long millisUntilNextDue() {
    long nanos = TimeUnit.MINUTES.toNanos(1);
    for (CachedReader<?> reader : READERS.values()) {
      if (!reader.inUse) {
        nanos = Math.min(nanos, reader.nanosUntilDue());
      }
    }
    return Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  /**
   * A live reader, the epoch it is positioned at and the coded mark taken there. While it is in use
   * its owner alone may call it; while it is idle it belongs to the cache.
   */
  public static final class CachedReader<T> {
    private final String key;
    private final String name;
    private final MarkRestorer restorer;
    private final UnboundedReader<T> reader;
    private final @Nullable Coder<CheckpointMark> markCoder;
    private final long idleTimeoutMillis;
    private final LongSupplier committedEpoch;

    private boolean started;
    private long epoch;
    private byte @Nullable [] codedMark;
    private @Nullable CheckpointMark pending;
    private MarkRecord.@Nullable Writer writer;

    // Written under LOCK; a reader in use is left alone by all but its owner.
    private boolean inUse = true;
    private boolean completed;
    private long idleSinceNanos;

    CachedReader(
        String key,
        ReaderOpening<T> opening,
        MarkRestorer restorer,
        UnboundedReader<T> reader,
        @Nullable Coder<CheckpointMark> markCoder,
        long epoch,
        byte @Nullable [] codedMark) {
      this.key = key;
      this.name = opening.name();
      this.restorer = restorer;
      this.reader = reader;
      this.markCoder = markCoder;
      this.idleTimeoutMillis = opening.idleTimeoutMillis();
      this.committedEpoch = opening.committedEpoch();
      this.epoch = epoch;
      this.codedMark = codedMark;
    }

    /** The live reader. */
    public UnboundedReader<T> reader() {
      return reader;
    }

    /** The epoch that starts where the reader stood when its last batch was completed. */
    public long epoch() {
      return epoch;
    }

    /** The encoded mark at {@link #epoch()}, or null if none was stored. Must not be modified. */
    public byte @Nullable [] codedMark() {
      return codedMark;
    }

    /** The attempt that wrote the durable mark at {@link #epoch()}; null before the first. */
    MarkRecord.@Nullable Writer writer() {
      return writer;
    }

    /** Whether the reader has been asked for a record; before, it must not be asked for a mark. */
    boolean isStarted() {
      return started;
    }

    /** Moves to the next record: by start() the first time, even if that finds none. */
    boolean advance() throws IOException {
      if (started) {
        return reader.advance();
      }
      started = true;
      return reader.start();
    }

    /** The mark as the source's own coder writes it; null if the source has no mark coder. */
    byte @Nullable [] encode(CheckpointMark mark) throws IOException {
      if (markCoder == null) {
        return null;
      }
      try {
        return CoderUtils.encodeToByteArray(markCoder, mark);
      } catch (IllegalArgumentException e) {
        // How CoderUtils reports an IOException: it is the coder's own, as nothing else writes.
        if (e.getCause() instanceof IOException failure) {
          throw failure;
        }
        throw e;
      }
    }

    /**
     * The batch has been read, processed and its durable mark stored: the reader stands at its
     * epoch, and the live mark is pending until that epoch starts.
     */
    void complete(MarkRecord end, @Nullable CheckpointMark mark) {
      synchronized (LOCK) {
        epoch = end.epoch();
        pending = mark;
        codedMark = end.kind() == MarkRecord.Kind.CODED ? end.coded() : null;
        writer = end.writer();
        completed = true;
      }
    }

    /**
     * Gives the reader back; the owner must not touch it any more. It stays in the cache if its
     * batch was completed and no other attempt has taken its place, and is closed otherwise.
     */
    public void release() {
      synchronized (LOCK) {
        if (completed && READERS.get(key) == this) {
          inUse = false;
          idleSinceNanos = System.nanoTime();
          LOCK.notifyAll();
          return;
        }
      }
      discard(null);
    }

    /**
     * Closes and forgets the reader, finalizing nothing.
     *
     * @param underWay the failure that is the reason, which a failure to close joins as suppressed;
     *     null if there is none, then a failure to close is logged
     */
    void discard(@Nullable Throwable underWay) {
      synchronized (LOCK) {
        READERS.remove(key, this);
        LOCK.notifyAll();
      }
      try {
        reader.close();
      } catch (Throwable e) {
        rethrowIfFatal(e);
        if (underWay != null) {
          FailureTransport.join(underWay, e);
        } else {
          LOG.warn("The reader of {} failed to close.", name, e);
        }
      }
    }

    /** Ends an idle reader's life: finalizes what is committed and closes. */
    private void retire() {
      if (pending != null) {
        try {
          long committed = committedEpoch.getAsLong();
          if (committed >= epoch - 1 && restorer.confirms(epoch, this)) {
            finalizePending();
          } else {
            LOG.info(
                "The mark of {} at epoch {} is dropped: another attempt's mark counts, or the last"
                    + " committed epoch, {}, is too early.",
                name,
                epoch,
                committed);
          }
        } catch (IOException | RuntimeException e) {
          LOG.warn("The mark of {} at epoch {} is dropped.", name, epoch, e);
        }
      }
      discard(null);
    }

    /** Finalizes the pending mark, if there is one, and forgets it whatever comes of it. */
    private void finalizePending() {
      CheckpointMark mark = pending;
      pending = null;
      if (mark == null) {
        return;
      }
      try {
        mark.finalizeCheckpoint();
      } catch (Throwable e) {
        rethrowIfFatal(e);
        LOG.warn("The mark of {} at epoch {} failed to be finalized.", name, epoch, e);
      }
    }

    /** No memory is the JVM's affair and not the source's. */
    private static void rethrowIfFatal(Throwable failure) {
      if (failure instanceof OutOfMemoryError fatal) {
        throw fatal;
      }
    }

    private void makeDue() {
      idleSinceNanos = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(idleTimeoutMillis);
    }

    private long nanosUntilDue() {
      return TimeUnit.MILLISECONDS.toNanos(idleTimeoutMillis)
          - (System.nanoTime() - idleSinceNanos);
    }

    @Override
    public String toString() {
      return name + " at epoch " + epoch;
    }
  }
}
