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

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;

/**
 * An append-only list of encoded elements in rows: a head row with the newest elements in it, and
 * chunk rows {@code (chunk prefix) -> (sequence)} with the older ones.
 *
 * <pre>
 * head = (first chunk, next chunk, elements: varint, tail: sequence of parts)
 * live chunks = [first, next), in order, then the tail
 * </pre>
 *
 * <p>Invariants: an empty list has no rows. Adding touches the head alone until the tail has grown
 * to a chunk, whatever the list's length. A tail that outgrows {@link #MAX_TAIL_BYTES} becomes a
 * chunk when flushed, and at {@link #MAX_CHUNK_BYTES} at once, so memory and rows stay bounded save
 * for single elements that are larger.
 *
 * <p>A {@link Snapshot} reads chunks one at a time while it is iterated and stays as it was: chunks
 * are never changed, and those of a cleared list are removed only by {@link #flush}, which first
 * loads them into the snapshots that are still in use. One that is too large for that, by {@link
 * StateMemory}, ends there: its iteration fails from then on.
 */
final class RowList {
  static final int MAX_TAIL_BYTES = 2 * 1024;
  static final int MAX_CHUNK_BYTES = 64 * 1024;
  private static final int FIRST_PRUNE = 16;

  private final StepRows rows;
  private final byte[] headPrefix;
  private final byte[] headSuffix;
  private final byte[] chunkPrefix;
  private final CellMemory memory;
  private final long maxDetachedBytes;
  private long heldBytes;
  private boolean loaded;
  private boolean changed;
  // Chunks [oldestChunk, firstChunk) were cleared and are removed by the next flush.
  private long oldestChunk;
  private long firstChunk;
  private long nextChunk;
  private long elements;
  private ByteOutput tail = new ByteOutput();
  private final List<WeakReference<Snapshot>> snapshots = new ArrayList<>();
  private int pruneAt = FIRST_PRUNE;

  RowList(
      StepRows rows,
      byte[] headPrefix,
      byte[] headSuffix,
      byte[] chunkPrefix,
      CellMemory memory) {
    this(rows, headPrefix, headSuffix, chunkPrefix, memory, StateMemory.limitBytes());
  }

  RowList(
      StepRows rows,
      byte[] headPrefix,
      byte[] headSuffix,
      byte[] chunkPrefix,
      CellMemory memory,
      long maxDetachedBytes) {
    this.rows = rows;
    this.headPrefix = headPrefix;
    this.headSuffix = headSuffix;
    this.chunkPrefix = chunkPrefix;
    this.memory = memory;
    this.maxDetachedBytes = maxDetachedBytes;
  }

  /** Adds an element; {@code element} is copied. */
  void add(ByteOutput element) {
    load();
    tail.writeSized(element);
    elements++;
    changed = true;
    if (tail.size() >= MAX_CHUNK_BYTES) {
      tailToChunk();
    }
    hold(tail.size());
  }

  long size() {
    load();
    return elements;
  }

  void clear() {
    load();
    if (elements > 0) {
      firstChunk = nextChunk;
      elements = 0;
      // Not reset: snapshots share the old tail's memory.
      tail = new ByteOutput();
      changed = true;
      hold(0);
    }
  }

  /** The list as it is now. */
  Snapshot snapshot() {
    load();
    Snapshot snapshot = new Snapshot(firstChunk, nextChunk, tail.input());
    if (firstChunk < nextChunk) {
      if (snapshots.size() >= pruneAt) {
        snapshots.removeIf(reference -> reference.get() == null);
        pruneAt = Math.max(FIRST_PRUNE, 2 * snapshots.size());
      }
      snapshots.add(new WeakReference<>(snapshot));
    }
    return snapshot;
  }

  void flush() {
    if (!changed) {
      return;
    }
    if (tail.size() > MAX_TAIL_BYTES) {
      tailToChunk();
    }
    if (oldestChunk < firstChunk) {
      detachSnapshots(firstChunk);
      for (long chunk = oldestChunk; chunk < firstChunk; chunk++) {
        rows.remove(chunkPrefix, chunkSuffix(chunk));
      }
      oldestChunk = firstChunk;
    }
    if (elements == 0) {
      rows.remove(headPrefix, headSuffix);
    } else {
      ByteOutput head = new ByteOutput(32 + tail.size());
      head.writeVarLong(firstChunk).writeVarLong(nextChunk).writeVarLong(elements);
      rows.put(headPrefix, headSuffix, head.writeBytes(tail.toByteArray()).toByteArray());
    }
    changed = false;
  }

  /** Flushes, and makes all snapshots independent of the rows. */
  void release() {
    flush();
    detachSnapshots(Long.MAX_VALUE);
    snapshots.clear();
    hold(0);
  }

  private void detachSnapshots(long below) {
    for (WeakReference<Snapshot> reference : snapshots) {
      Snapshot snapshot = reference.get();
      if (snapshot != null && snapshot.first < below) {
        snapshot.detach();
      }
    }
  }

  private void tailToChunk() {
    rows.insert(chunkPrefix, chunkSuffix(nextChunk), tail.toByteArray());
    nextChunk++;
    tail = new ByteOutput();
    changed = true;
    hold(0);
  }

  private void load() {
    if (loaded) {
      return;
    }
    byte[] head = rows.get(headPrefix, headSuffix);
    if (head != null) {
      ByteInput reader = new ByteInput(head);
      firstChunk = reader.readVarLong();
      nextChunk = reader.readVarLong();
      elements = reader.readVarLong();
      oldestChunk = firstChunk;
      tail.writeBytes(reader.readRest());
      hold(tail.size());
    }
    loaded = true;
  }

  private void hold(long bytes) {
    memory.change(bytes - heldBytes);
    heldBytes = bytes;
  }

  private static byte[] chunkSuffix(long chunk) {
    return new ByteOutput(Long.BYTES).writeLong(chunk).toByteArray();
  }

  /** The list as it was at some time. */
  final class Snapshot {
    private final long first;
    private final long next;
    private final ByteInput tailReader;
    private byte[][] detached;
    private boolean ended;

    private Snapshot(long first, long next, ByteInput tailReader) {
      this.first = first;
      this.next = next;
      this.tailReader = tailReader;
    }

    /** A new pass over the elements: each in turn as a reader of its bytes, null at the end. */
    Cursor cursor() {
      return new Cursor(this);
    }

    private void detach() {
      if (detached != null || ended) {
        return;
      }
      List<byte[]> chunks = new ArrayList<>();
      long bytes = 0;
      for (long number = first; number < next; number++) {
        byte[] chunk = stored(number);
        bytes += chunk.length;
        if (bytes > maxDetachedBytes) {
          ended = true;
          return;
        }
        chunks.add(chunk);
      }
      detached = chunks.toArray(byte[][]::new);
    }

    private byte[] chunk(long number) {
      if (ended) {
        throw new IllegalStateException(
            rows.stepName()
                + ": the values of a large list were iterated when the call that they were given to"
                + " was over and they had been written back or removed. Copy what is needed for"
                + " longer.");
      }
      return detached == null ? stored(number) : detached[Math.toIntExact(number - first)];
    }

    private byte[] stored(long number) {
      byte[] chunk = rows.get(chunkPrefix, chunkSuffix(number));
      if (chunk == null) {
        throw new IllegalStateException(
            rows.stepName() + ": chunk " + number + " of a stored list is missing");
      }
      return chunk;
    }
  }

  /** One pass over a snapshot. */
  static final class Cursor {
    private final Snapshot snapshot;
    private long nextChunk;
    private ByteInput reader = new ByteInput(new byte[0]);

    private Cursor(Snapshot snapshot) {
      this.snapshot = snapshot;
      this.nextChunk = snapshot.first;
    }

    ByteInput next() {
      while (reader.available() == 0) {
        if (nextChunk < snapshot.next) {
          reader = new ByteInput(snapshot.chunk(nextChunk));
        } else if (nextChunk == snapshot.next) {
          reader = snapshot.tailReader.copy();
        } else {
          return null;
        }
        nextChunk++;
      }
      return reader.readSizedInput();
    }
  }
}
