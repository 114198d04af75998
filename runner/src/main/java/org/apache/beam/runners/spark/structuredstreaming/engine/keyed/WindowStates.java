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
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.beam.runners.core.LateDataUtils;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateRow;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * The live windows of a window-major step in one partition: those with rows, read at the start, and
 * those that this epoch's elements bring.
 */
final class WindowStates<E extends PaneEntry> {
  private final KeyedStep step;
  private final StepRows rows;
  private final byte[] windowsPrefix;
  private final byte panesKind;
  private final KeyTable.EntryFactory<E> entries;
  private final Coder<BoundedWindow> windowCoder;
  private final Map<BoundedWindow, WindowState<E>> windows = new LinkedHashMap<>();

  WindowStates(
      KeyedStep step,
      StepRows rows,
      byte windowsKind,
      byte panesKind,
      KeyTable.EntryFactory<E> entries) {
    this.step = step;
    this.rows = rows;
    this.windowsPrefix = rows.prefix(windowsKind).toByteArray();
    this.panesKind = panesKind;
    this.entries = entries;
    this.windowCoder = step.input().windowCoder();
    for (Iterator<StateRow> stored = rows.scan(windowsPrefix); stored.hasNext(); ) {
      restore(stored.next());
    }
  }

  Collection<WindowState<E>> all() {
    return windows.values();
  }

  WindowState<E> get(BoundedWindow window) {
    return windows.computeIfAbsent(
        window, w -> create(w, Encoding.window(step.fullName(), windowCoder, w), false));
  }

  /** Windows whose end is behind {@code watermarkMillis}, in firing order. */
  List<WindowState<E>> endedBefore(long watermarkMillis) {
    List<WindowState<E>> ended = new ArrayList<>();
    for (WindowState<E> window : windows.values()) {
      if (window.endMillis() < watermarkMillis) {
        ended.add(window);
      }
    }
    ended.sort(WindowMajorRunner.firingOrder());
    return ended;
  }

  long earliestHold() {
    long earliest = PaneEntry.NO_HOLD;
    for (WindowState<E> window : windows.values()) {
      earliest = Math.min(earliest, window.hold());
    }
    return earliest;
  }

  void remove(WindowState<E> window) {
    windows.remove(window.window());
    if (window.isStored()) {
      rows.remove(windowsPrefix, window.encoded());
    }
  }

  /** Writes the rows of windows that changed; one whose keys have no rows is not stored. */
  void store() {
    for (WindowState<E> window : windows.values()) {
      boolean needed = window.isStored() ? window.isChanged() : window.isFired();
      if (needed) {
        store(window);
      }
    }
  }

  /** Writes the row of a window whose keys have rows. */
  void store(WindowState<E> window) {
    ByteOutput out = new ByteOutput(16);
    out.write(window.isFired() ? 1 : 0);
    out.writeLong(window.hold());
    rows.put(windowsPrefix, window.encoded(), out.toByteArray());
    window.setStored();
  }

  private void restore(StateRow row) {
    try {
      ByteInput in = new ByteInput();
      in.reset(row.suffix());
      WindowState<E> window = create(windowCoder.decode(in), row.suffix(), true);
      in.reset(row.value());
      window.restore(in.readByte() != 0, in.readLong());
      windows.put(window.window(), window);
    } catch (IOException | RuntimeException e) {
      throw new StepFailedException(
          step.fullName(), "reading a window of the state with " + windowCoder, e);
    }
  }

  private WindowState<E> create(BoundedWindow window, byte[] encoded, boolean stored) {
    long end = window.maxTimestamp().getMillis();
    long expiry =
        LateDataUtils.garbageCollectionTime(
                window, step.windowingStrategy().getAllowedLateness())
            .getMillis();
    byte[] prefix = rows.prefix(panesKind).writeBytes(encoded).toByteArray();
    return new WindowState<>(
        window, encoded, prefix, end, expiry, new KeyTable<>(entries), stored);
  }
}
