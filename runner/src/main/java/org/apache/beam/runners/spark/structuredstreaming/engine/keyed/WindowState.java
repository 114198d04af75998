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

import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/** One live window of a window-major step, in one partition during one epoch. */
final class WindowState<E extends PaneEntry> {
  private final BoundedWindow window;
  private final byte[] encoded;
  private final byte[] panesPrefix;
  private final long endMillis;
  private final long expiryMillis;
  private final KeyTable<E> touched;
  private boolean stored;
  private boolean fired;
  private long hold;
  private boolean changed;

  /**
   * @param endMillis the window's maximum timestamp, inclusive
   * @param expiryMillis the last moment for late elements, inclusive
   * @param stored whether the window has a row in the state
   */
  WindowState(
      BoundedWindow window,
      byte[] encoded,
      byte[] panesPrefix,
      long endMillis,
      long expiryMillis,
      KeyTable<E> touched,
      boolean stored) {
    this.window = window;
    this.encoded = encoded;
    this.panesPrefix = panesPrefix;
    this.endMillis = endMillis;
    this.expiryMillis = expiryMillis;
    this.touched = touched;
    this.stored = stored;
    this.hold = PaneEntry.NO_HOLD;
  }

  BoundedWindow window() {
    return window;
  }

  byte[] encoded() {
    return encoded;
  }

  /** Prefix of the rows that hold this window's keys. */
  byte[] panesPrefix() {
    return panesPrefix;
  }

  long endMillis() {
    return endMillis;
  }

  long expiryMillis() {
    return expiryMillis;
  }

  /** Keys of this window that the current epoch has touched. */
  KeyTable<E> touched() {
    return touched;
  }

  boolean isStored() {
    return stored;
  }

  void setStored() {
    stored = true;
    changed = false;
  }

  /** Whether the watermark has passed the window's end in an earlier epoch or earlier in this one. */
  boolean isFired() {
    return fired;
  }

  void setFired() {
    fired = true;
    hold = PaneEntry.NO_HOLD;
    changed = true;
  }

  /** Earliest hold of the window's elements, over all its keys. */
  long hold() {
    return hold;
  }

  void holdAt(long timestampMillis) {
    if (timestampMillis < hold) {
      hold = timestampMillis;
      changed = true;
    }
  }

  /** Takes over what the window's row says. */
  void restore(boolean storedFired, long storedHold) {
    fired = storedFired;
    hold = storedHold;
    changed = false;
  }

  /** Whether the window's row is to be written again. */
  boolean isChanged() {
    return changed;
  }
}
