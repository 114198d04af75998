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
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateRow;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues.FullWindowedValueCoder;

/**
 * The elements of a step that wait for its side inputs, by window, in one partition.
 *
 * <ul>
 *   <li>An element waits iff a side input is not ready in its window, or elements of the window wait
 *       already: so those of a window keep their order.
 *   <li>{@link #release} gives out all elements of the windows that have become ready, window by
 *       window in the order of their ends.
 *   <li>A waiting element holds the step's input watermark at its timestamp, or at the end of its
 *       window if that is earlier: {@code in = max(in, min(senders, hold))}. So timers and the
 *       expiry of windows wait with it.
 * </ul>
 *
 * <p>Elements that come and are released in one epoch stay in memory, if there is enough. Rows: {@code
 * (WINDOWS) -> (window): first chunk, next chunk, hold}; {@code (ELEMENTS, window) -> (number):
 * elements}.
 */
final class WaitingElements {
  private static final byte WINDOWS = StepWatermarks.engineKind(16);
  private static final byte ELEMENTS = StepWatermarks.engineKind(17);
  private static final int CHUNK_BYTES = 64 << 10;
  private static final long MAX_MEMORY_BYTES = 32L << 20;

  private final StepRows rows;
  private final StepSideInputs sideInputs;
  private final FullWindowedValueCoder<Object> elementCoder;
  private final Coder<BoundedWindow> windowCoder;
  private final byte[] windowsPrefix;
  private final Map<BoundedWindow, Waiting> waiting = new LinkedHashMap<>();
  private final Set<BoundedWindow> ready = new HashSet<>();
  private BoundedWindow lastReady;
  private long memoryBytes;

  /** The elements of one window. */
  private static final class Waiting {
    private final BoundedWindow window;
    private final byte[] encoded;
    private final byte[] prefix;
    private final List<byte[]> chunks = new ArrayList<>();
    private final ByteOutput newest = new ByteOutput(256);
    private boolean stored;
    private boolean changed;
    private boolean expired;
    private long firstRow;
    private long nextRow;
    private long hold = Long.MAX_VALUE;

    Waiting(BoundedWindow window, byte[] encoded, byte[] prefix) {
      this.window = window;
      this.encoded = encoded;
      this.prefix = prefix;
    }

    long endMillis() {
      return window.maxTimestamp().getMillis();
    }
  }

  /** What waits according to the rows. */
  WaitingElements(StepRows rows, PlanCollection input, StepSideInputs sideInputs) {
    this.rows = rows;
    this.sideInputs = sideInputs;
    this.elementCoder = input.windowedValueCoder();
    this.windowCoder = input.windowCoder();
    this.windowsPrefix = rows.prefix(WINDOWS).toByteArray();
    for (Iterator<StateRow> stored = rows.scan(windowsPrefix); stored.hasNext(); ) {
      restore(stored.next());
    }
  }

  /**
   * Takes an element if it has to wait.
   *
   * @param element in one window
   * @return {@code READY} if it is to be processed now, {@code NOT_READY} if it waits, {@code
   *     COLLECTED} if it is to be dropped
   */
  StepSideInputs.State offer(WindowedValue<Object> element) {
    BoundedWindow window = element.getWindows().iterator().next();
    if (window.equals(lastReady)) {
      return StepSideInputs.State.READY;
    }
    Waiting waits = waiting.get(window);
    if (waits == null) {
      if (!ready.contains(window)) {
        StepSideInputs.State state = sideInputs.state(window);
        if (state == StepSideInputs.State.COLLECTED) {
          return state;
        }
        if (state == StepSideInputs.State.NOT_READY) {
          waits = create(window, Encoding.window(rows.stepName(), windowCoder, window));
          waiting.put(window, waits);
          add(waits, element);
          return state;
        }
        ready.add(window);
      }
      lastReady = window;
      return StepSideInputs.State.READY;
    }
    add(waits, element);
    return StepSideInputs.State.NOT_READY;
  }

  /**
   * Gives out what waits in windows that are ready now. Called when the last element was offered and
   * the views have taken their watermarks, before the step takes its own.
   *
   * @param process takes the elements of windows that are ready
   * @param drop takes those that were too late when they came and whose side inputs are collected
   */
  Work release(Consumer<WindowedValue<Object>> process, Consumer<WindowedValue<Object>> drop) {
    List<Waiting> released = new ArrayList<>();
    for (Waiting window : waiting.values()) {
      StepSideInputs.State state = sideInputs.state(window.window);
      if (state != StepSideInputs.State.NOT_READY) {
        window.expired = state == StepSideInputs.State.COLLECTED;
        released.add(window);
      }
    }
    released.sort(
        Comparator.comparingLong(Waiting::endMillis)
            .thenComparing(window -> window.encoded, Arrays::compare));
    return Work.sequence(
        released.stream()
            .map(
                window ->
                    Work.sequence(
                        Work.each(() -> drain(window), window.expired ? drop : process),
                        Work.once(() -> waiting.remove(window.window))))
            .iterator());
  }

  /** How far the step's input watermark may go, given what its senders say. */
  long held(long watermarkMillis) {
    long held = watermarkMillis;
    for (Waiting window : waiting.values()) {
      held = Math.min(held, window.hold);
    }
    return held;
  }

  /** Writes what still waits to the rows; called at the end of the epoch. */
  void flush() {
    for (Waiting window : waiting.values()) {
      writeChunks(window);
      if (window.changed) {
        byte[] value =
            new ByteOutput()
                .writeVarLong(window.firstRow)
                .writeVarLong(window.nextRow)
                .writeLong(window.hold)
                .toByteArray();
        rows.put(windowsPrefix, window.encoded, value);
        window.stored = true;
        window.changed = false;
      }
    }
    memoryBytes = 0;
  }

  private void add(Waiting window, WindowedValue<Object> element) {
    int before = window.newest.size();
    try {
      elementCoder.encode(element, window.newest);
    } catch (IOException | RuntimeException e) {
      throw new StepFailedException(
          rows.stepName(), "encoding an element that waits, with " + elementCoder, e);
    }
    window.hold =
        Math.min(window.hold, Math.min(element.getTimestamp().getMillis(), window.endMillis()));
    window.changed = true;
    memoryBytes += window.newest.size() - before;
    if (window.newest.size() >= CHUNK_BYTES) {
      window.chunks.add(window.newest.toByteArray());
      window.newest.reset();
    }
    if (memoryBytes > MAX_MEMORY_BYTES) {
      waiting.values().forEach(this::writeChunks);
      memoryBytes = 0;
    }
  }

  private void writeChunks(Waiting window) {
    if (window.newest.size() > 0) {
      window.chunks.add(window.newest.toByteArray());
      window.newest.reset();
    }
    for (byte[] chunk : window.chunks) {
      rows.insert(window.prefix, chunkSuffix(window.nextRow), chunk);
      window.nextRow++;
    }
    window.chunks.clear();
  }

  /** All elements of a window, from rows, then from memory; what was returned is gone. */
  private Iterator<WindowedValue<Object>> drain(Waiting window) {
    if (window.stored) {
      rows.remove(windowsPrefix, window.encoded);
      window.stored = false;
    }
    return new Iterator<>() {
      private final ByteInput input = new ByteInput();
      private int nextInMemory;

      @Override
      public boolean hasNext() {
        while (input.isExhausted()) {
          byte[] chunk = nextChunk();
          if (chunk == null) {
            return false;
          }
          input.reset(chunk);
        }
        return true;
      }

      @Override
      public WindowedValue<Object> next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        try {
          return elementCoder.decode(input);
        } catch (IOException | RuntimeException e) {
          throw new StepFailedException(
              rows.stepName(), "decoding an element that waited, with " + elementCoder, e);
        }
      }

      private byte[] nextChunk() {
        if (window.firstRow < window.nextRow) {
          byte[] suffix = chunkSuffix(window.firstRow++);
          byte[] chunk = rows.get(window.prefix, suffix);
          if (chunk == null) {
            throw new IllegalStateException(
                rows.stepName() + ": elements that wait in window " + window.window + " are gone");
          }
          rows.remove(window.prefix, suffix);
          return chunk;
        }
        if (nextInMemory < window.chunks.size()) {
          return window.chunks.set(nextInMemory++, null);
        }
        if (window.newest.size() > 0) {
          byte[] last = window.newest.toByteArray();
          window.newest.reset();
          return last;
        }
        return null;
      }
    };
  }

  private void restore(StateRow row) {
    try {
      Waiting window = create(windowCoder.decode(new ByteInput(row.suffix())), row.suffix());
      ByteInput reader = new ByteInput(row.value());
      window.firstRow = reader.readVarLong();
      window.nextRow = reader.readVarLong();
      window.hold = reader.readLong();
      window.stored = true;
      waiting.put(window.window, window);
    } catch (IOException | RuntimeException e) {
      throw new StepFailedException(
          rows.stepName(), "reading a window that elements wait in, with " + windowCoder, e);
    }
  }

  private Waiting create(BoundedWindow window, byte[] encoded) {
    return new Waiting(window, encoded, rows.prefix(ELEMENTS).writeBytes(encoded).toByteArray());
  }

  private static byte[] chunkSuffix(long chunk) {
    return new ByteOutput().writeVarLong(chunk).toByteArray();
  }
}
