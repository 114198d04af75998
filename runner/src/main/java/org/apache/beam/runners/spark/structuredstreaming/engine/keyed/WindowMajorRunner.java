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
import java.util.List;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput.WindowReference;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateRow;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.WindowedValues;
import org.joda.time.Instant;

/**
 * Gathers or combines by key and window where the window alone says when a pane is due: the default
 * trigger, windows that do not merge, nothing accumulated from pane to pane. It gives the panes
 * that runners-core's {@code ReduceFnRunner} gives, without timers: what closes a window is one scan
 * of its rows.
 *
 * <p>With {@code in} and {@code out} the step's watermarks at the end of the epoch before, {@code
 * end} a window's maximum timestamp, {@code expiry = end + allowed lateness}, and {@code in'} the
 * new input watermark:
 *
 * <ul>
 *   <li>an element is dropped from a window iff {@code expiry < in};
 *   <li>a window with {@code end < in} gives one pane for each key that got elements in this epoch,
 *       before the watermark moves;
 *   <li>a window with {@code in <= end < in'} gives one pane for each key it has;
 *   <li>a pane is the last iff its window expires by it ({@code expiry < in'}); it is late iff a
 *       pane of the key and window was before it or {@code end < out}, otherwise on time;
 *   <li>a pane's timestamp is the earliest hold of its elements, or {@code end}. An element holds at
 *       its timestamp iff the windowing asks for the earliest, {@code end >= in} and {@code
 *       timestamp >= out}.
 * </ul>
 *
 * <p>Rows: {@code (WINDOWS) -> (window): fired, hold}; {@code (PANES, window) -> (key): pane index,
 * hold, content}. A window row exists iff the window has rows of keys. After its pane a key keeps a
 * row without content until the window expires, for the index of late panes.
 */
final class WindowMajorRunner<E extends PaneEntry> extends KeyedStepRunner {
  private static final byte WINDOWS = StepWatermarks.engineKind(0);
  private static final byte PANES = StepWatermarks.engineKind(1);
  private static final byte WATERMARKS = StepWatermarks.engineKind(2);

  /** Content held in memory before it is written to rows early. */
  private static final long MAX_CONTENT_BYTES = 64L << 20;

  private final StepRows rows;
  private final StepWatermarks watermarks;
  private final Panes<E> panes;
  private final WindowStates<E> windows;
  private final Coder<Object> keyCoder;
  private final Coder<BoundedWindow> windowCoder;
  private final boolean holdsAtEarliest;
  private final ByteInput storedInput = new ByteInput();
  private final ByteOutput rowOutput = new ByteOutput(256);
  private final List<WindowState<E>> recordWindows = new ArrayList<>();
  private long contentBytes;

  @SuppressWarnings("unchecked") // keys are untyped between steps
  WindowMajorRunner(
      KeyedStep step,
      ElementReceiver output,
      MetricsContainerImpl container,
      StepRows rows,
      Panes<E> panes,
      long processingTimeMillis) {
    super(step, output, container);
    this.rows = rows;
    this.panes = panes;
    this.holdsAtEarliest =
        step.windowingStrategy().getTimestampCombiner() == TimestampCombiner.EARLIEST;
    this.watermarks = new StepWatermarks(rows, WATERMARKS, processingTimeMillis);
    this.keyCoder = (Coder<Object>) step.keyCoder();
    this.windowCoder = step.input().windowCoder();
    this.windows = new WindowStates<>(step, rows, WINDOWS, PANES, panes::create);
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    ByteInput bytes = record.bytes();
    int keyLength = bytes.readLength();
    int keyOffset = bytes.position();
    bytes.seek(keyOffset + keyLength);
    long timestamp = bytes.readLong();
    long elements = bytes.readVarLong();
    statistics().addRowsIn(elements);
    readWindows(record, elements);
    int length = bytes.readLength();
    int offset = bytes.position();
    for (int i = 0; i < recordWindows.size(); i++) {
      WindowState<E> window = recordWindows.get(i);
      E entry = window.touched().findOrCreate(bytes.array(), keyOffset, keyLength);
      contentBytes += panes.add(entry, bytes.array(), offset, length);
      if (holdsAtEarliest
          && window.endMillis() >= watermarks.inputWatermark()
          && timestamp >= watermarks.outputWatermark()) {
        entry.holdAt(timestamp);
        window.holdAt(timestamp);
      }
    }
    bytes.seek(offset + length);
    if (contentBytes > MAX_CONTENT_BYTES) {
      makeRoom();
    }
  }

  @Override
  public Work endOfElements() {
    return Work.sequence(
        windows.endedBefore(watermarks.inputWatermark()).stream()
            .filter(window -> !window.touched().isEmpty())
            .map(this::latePanes)
            .iterator());
  }

  @Override
  public Work advanceWatermark(long watermarkMillis) {
    long before = watermarks.inputWatermark();
    watermarks.advanceInput(watermarkMillis);
    long now = watermarks.inputWatermark();
    if (now == before) {
      return Work.NONE;
    }
    return Work.sequence(
        windows.endedBefore(now).stream()
            .filter(window -> !window.isFired() || window.expiryMillis() < now)
            .map(window -> window.isFired() ? expire(window) : onTimePanes(window, now))
            .iterator());
  }

  @Override
  public long finish() {
    storeTouched();
    windows.store();
    long out = watermarks.release(windows.earliestHold());
    watermarks.flush();
    panes.finishEpoch();
    rows.flush();
    statistics().setState(rows.rows(), rows.bytes());
    statistics().setWatermarks(watermarks.inputWatermark(), out);
    return out;
  }

  /** Reads the record's windows and keeps those that have not expired. */
  private void readWindows(RecordInput record, long elements) throws IOException {
    recordWindows.clear();
    int count = record.bytes().readVarInt();
    for (int i = 0; i < count; i++) {
      WindowReference reference = record.readWindow(windowCoder);
      @SuppressWarnings("unchecked") // what this runner attached itself
      WindowState<E> window = (WindowState<E>) reference.attachment();
      if (window == null) {
        window = windows.get(reference.window());
        reference.attach(window);
      }
      if (window.expiryMillis() < watermarks.inputWatermark()) {
        drop(elements);
      } else {
        recordWindows.add(window);
      }
    }
  }

  /** Panes of a window that has ended before: of the keys that got elements in this epoch. */
  private Work latePanes(WindowState<E> window) {
    return Work.sequence(
        Work.each(
            window.touched().entries(),
            entry -> {
              readStored(window, entry, rows.get(window.panesPrefix(), entry.key()));
              emitPane(window, entry, false);
              write(window, entry);
            }),
        Work.once(
            () -> {
              window.touched().clear();
              if (!window.isFired()) {
                window.setFired();
              }
            }));
  }

  /** Panes of a window that ends now: of the keys that have rows, then of those that are new. */
  private Work onTimePanes(WindowState<E> window, long now) {
    boolean last = window.expiryMillis() < now;
    Work storedKeys =
        window.isStored()
            ? Work.each(
                () -> rows.drain(window.panesPrefix()), row -> fireStored(window, row, last))
            : Work.NONE;
    Work newKeys =
        Work.each(
            window.touched().entries(),
            entry -> {
              if (!entry.isDone()) {
                fire(window, entry, last);
              }
            });
    return Work.sequence(
        storedKeys,
        newKeys,
        Work.once(
            () -> {
              window.touched().clear();
              window.setFired();
              if (last) {
                windows.remove(window);
              }
            }));
  }

  private void fireStored(WindowState<E> window, StateRow row, boolean last) {
    E touched = window.touched().find(row.suffix());
    E entry = touched == null ? panes.create(row.suffix(), 0) : touched;
    readStored(window, entry, row.value());
    fire(window, entry, last);
  }

  private void fire(WindowState<E> window, E entry, boolean last) {
    emitPane(window, entry, last);
    if (!last) {
      write(window, entry);
    }
    entry.setDone();
  }

  /** Removes all rows of a window that fired in an earlier epoch and takes no more elements. */
  private Work expire(WindowState<E> window) {
    return Work.sequence(
        Work.each(() -> rows.drain(window.panesPrefix()), row -> {}),
        Work.once(() -> windows.remove(window)));
  }

  private void emitPane(WindowState<E> window, E entry, boolean last) {
    int index = entry.paneIndex() + 1;
    boolean first = index == 0;
    boolean late = !first || window.endMillis() < watermarks.outputWatermark();
    PaneInfo pane =
        PaneInfo.createPane(
            first, last, late ? PaneInfo.Timing.LATE : PaneInfo.Timing.ON_TIME, index, index);
    Instant timestamp =
        entry.hold() < window.endMillis()
            ? Instant.ofEpochMilli(entry.hold())
            : window.window().maxTimestamp();
    emit(
        WindowedValues.of(
            KV.of(decodeKey(entry.key()), panes.value(window, entry)),
            timestamp,
            window.window(),
            pane));
    entry.setPaneIndex(index);
    entry.clearHold();
    panes.clear(window, entry);
  }

  private Object decodeKey(byte[] key) {
    try {
      storedInput.reset(key);
      return keyCoder.decode(storedInput);
    } catch (IOException | RuntimeException e) {
      throw failure("decoding a key with " + keyCoder, e);
    }
  }

  /** Merges what earlier epochs stored of a key into its entry. */
  private void readStored(WindowState<E> window, E entry, byte[] stored) {
    if (stored == null) {
      return;
    }
    try {
      storedInput.reset(stored);
      entry.setPaneIndex(storedInput.readVarInt() - 1);
      if (holdsAtEarliest) {
        entry.holdAt(storedInput.readLong());
      }
      panes.mergeStored(window, entry, storedInput);
    } catch (IOException | RuntimeException e) {
      throw failure("reading the state of window " + window.window(), e);
    }
  }

  private void write(WindowState<E> window, E entry) {
    try {
      rowOutput.reset();
      rowOutput.writeVarInt(entry.paneIndex() + 1);
      if (holdsAtEarliest) {
        rowOutput.writeLong(entry.hold());
      }
      panes.store(window, entry, rowOutput);
      rows.put(window.panesPrefix(), entry.key(), rowOutput.toByteArray());
      rowOutput.reset();
    } catch (IOException | RuntimeException e) {
      throw failure("writing the state of window " + window.window(), e);
    }
  }

  /** Merges the keys touched in this epoch into their rows and forgets them in memory. */
  private void storeTouched() {
    for (WindowState<E> window : windows.all()) {
      if (window.touched().isEmpty()) {
        continue;
      }
      for (E entry : window.touched().entries()) {
        readStored(window, entry, rows.get(window.panesPrefix(), entry.key()));
        write(window, entry);
      }
      window.touched().clear();
      windows.store(window);
    }
    contentBytes = 0;
  }

  /**
   * Frees memory in the middle of an epoch. Late panes are emitted early for it, which the model
   * allows: how many elements make a late pane is up to the runner.
   */
  private void makeRoom() {
    endOfElements().complete();
    storeTouched();
  }

  /** Orders windows by end, then by their bytes: the same in every attempt. */
  static <E extends PaneEntry> Comparator<WindowState<E>> firingOrder() {
    return Comparator.<WindowState<E>>comparingLong(WindowState::endMillis)
        .thenComparing(WindowState::encoded, Arrays::compare);
  }
}
