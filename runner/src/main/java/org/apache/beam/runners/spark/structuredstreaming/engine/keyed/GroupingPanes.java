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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.GroupByKeyStep;
import org.apache.beam.sdk.coders.Coder;

/**
 * Panes of gathered values, kept encoded and in the order of arrival.
 *
 * <p>A key's row holds the newest values itself; when they exceed {@value #MAX_INLINE_BYTES} bytes
 * they become a chunk, a row of its own that is never rewritten: {@code (CHUNKS, window, key) ->
 * (number): count, values}. So adding to a large group rewrites a little and reads nothing, and a
 * group is never one row.
 *
 * <p>The values of a group with chunks are read from those rows while they are iterated; the rows
 * are removed at the end of the epoch, until when the iterable is valid.
 */
final class GroupingPanes extends Panes<GroupingPanes.Entry> {
  private static final byte CHUNKS = StepWatermarks.engineKind(3);
  private static final int MAX_INLINE_BYTES = 4 << 10;

  /** A chunk gets no further value from here on: a hot key makes many rows and none of all its values. */
  private static final int MAX_CHUNK_BYTES = 1 << 20;

  private final StepRows rows;
  private final Coder<Object> valueCoder;
  private final List<EmittedChunks> emitted = new ArrayList<>();

  /** Encoded values of one key and window. */
  static final class Entry extends PaneEntry {
    private final ByteOutput values = new ByteOutput(32);
    private int count;

    /** Chunks of this epoch, as they are stored, that come before {@link #values}. */
    private final List<byte[]> fullChunks = new ArrayList<>();

    /** Chunks from the first, inclusive, to the next, exclusive. Numbers are not used twice. */
    private int firstChunk;

    private int nextChunk;

    Entry(byte[] key, int hash) {
      super(key, hash);
    }
  }

  /** Chunks whose group was emitted and that are to be removed. */
  private static final class EmittedChunks {
    private final byte[] prefix;
    private final int firstChunk;
    private final int nextChunk;

    EmittedChunks(byte[] prefix, int firstChunk, int nextChunk) {
      this.prefix = prefix;
      this.firstChunk = firstChunk;
      this.nextChunk = nextChunk;
    }
  }

  @SuppressWarnings("unchecked") // values are untyped between steps
  GroupingPanes(GroupByKeyStep step, StepRows rows) {
    this.rows = rows;
    this.valueCoder = (Coder<Object>) step.valueCoder();
  }

  @Override
  Entry create(byte[] key, int hash) {
    return new Entry(key, hash);
  }

  @Override
  int add(Entry entry, byte[] bytes, int offset, int length) {
    entry.values.write(bytes, offset, length);
    entry.count++;
    if (entry.values.size() >= MAX_CHUNK_BYTES) {
      entry.fullChunks.add(takeChunk(entry));
    }
    return length;
  }

  @Override
  void mergeStored(WindowState<Entry> window, Entry entry, ByteInput stored) throws IOException {
    int newCount = entry.count;
    byte[] newValues = entry.values.toByteArray();
    entry.values.reset();
    entry.firstChunk = stored.readVarInt();
    entry.nextChunk = stored.readVarInt();
    entry.count = stored.readVarInt();
    entry.values.write(stored.array(), stored.position(), stored.available());
    if (!entry.fullChunks.isEmpty() || entry.values.size() + newValues.length > MAX_INLINE_BYTES) {
      cutChunk(window, entry);
    }
    writeFullChunks(window, entry);
    entry.values.write(newValues);
    entry.count += newCount;
  }

  @Override
  void store(WindowState<Entry> window, Entry entry, ByteOutput out) {
    writeFullChunks(window, entry);
    if (entry.values.size() > MAX_INLINE_BYTES) {
      cutChunk(window, entry);
    }
    out.writeVarInt(entry.firstChunk);
    out.writeVarInt(entry.nextChunk);
    out.writeVarInt(entry.count);
    out.write(entry.values.array(), 0, entry.values.size());
  }

  @Override
  Object value(WindowState<Entry> window, Entry entry) {
    writeFullChunks(window, entry);
    byte[] inline = entry.values.toByteArray();
    EncodedValues newest = new EncodedValues(valueCoder, inline, 0, inline.length, entry.count);
    return entry.firstChunk == entry.nextChunk
        ? newest
        : new ChunkedValues(
            rows, chunksPrefix(window, entry), entry.firstChunk, entry.nextChunk, valueCoder, newest);
  }

  @Override
  void clear(WindowState<Entry> window, Entry entry) {
    if (entry.firstChunk < entry.nextChunk) {
      emitted.add(
          new EmittedChunks(chunksPrefix(window, entry), entry.firstChunk, entry.nextChunk));
    }
    entry.fullChunks.clear();
    entry.values.reset();
    entry.count = 0;
    entry.firstChunk = entry.nextChunk;
  }

  @Override
  void finishEpoch() {
    for (EmittedChunks group : emitted) {
      for (int chunk = group.firstChunk; chunk < group.nextChunk; chunk++) {
        rows.remove(group.prefix, chunkSuffix(chunk));
      }
    }
    emitted.clear();
  }

  static byte[] chunkSuffix(int chunk) {
    return new ByteOutput().writeVarLong(chunk).toByteArray();
  }

  /** Stores the values as a chunk of their own, if there are any. */
  private void cutChunk(WindowState<Entry> window, Entry entry) {
    if (entry.count > 0) {
      writeChunk(window, entry, takeChunk(entry));
    }
  }

  private void writeFullChunks(WindowState<Entry> window, Entry entry) {
    for (byte[] chunk : entry.fullChunks) {
      writeChunk(window, entry, chunk);
    }
    entry.fullChunks.clear();
  }

  private void writeChunk(WindowState<Entry> window, Entry entry, byte[] chunk) {
    rows.insert(chunksPrefix(window, entry), chunkSuffix(entry.nextChunk), chunk);
    entry.nextChunk++;
  }

  private static byte[] takeChunk(Entry entry) {
    ByteOutput chunk = new ByteOutput(entry.values.size() + 5);
    chunk.writeVarInt(entry.count);
    chunk.write(entry.values.array(), 0, entry.values.size());
    entry.count = 0;
    entry.values.reset();
    return chunk.toByteArray();
  }

  private byte[] chunksPrefix(WindowState<Entry> window, Entry entry) {
    return rows.prefix(CHUNKS).writeSized(window.encoded()).writeBytes(entry.key()).toByteArray();
  }
}
