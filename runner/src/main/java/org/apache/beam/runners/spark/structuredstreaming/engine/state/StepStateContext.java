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

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * What one step in one partition knows durably, during one epoch: the state and timers of its keys
 * and its watermark holds. Made by the task for the epoch, used by its thread, and ended by {@link
 * #flush} before the level's rows are flushed and the store is committed.
 *
 * <p>At most {@code maxLiveKeys} keys have their cells in memory, and those hold back no more than
 * {@link #MAX_HELD_BYTES}; past that the key that was asked for the longest ago is written back to
 * the rows. The key asked for last is never among them.
 */
public final class StepStateContext<K> {
  /** Encoded state held back in cells before the oldest keys are written back. */
  static final long MAX_HELD_BYTES = 32L << 20;

  private final StepRows rows;
  private final Coder<K> keyCoder;
  private final StepClock clock;
  private final int maxLiveKeys;
  private final long maxHeldBytes;
  private final HoldIndex holds;
  private final StepTimers timers;
  private final CellMemory memory = new CellMemory();
  // In the order in which the keys were asked for last.
  private final Map<ByteKey, KeyState<K>> liveKeys = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * The state that the step's rows hold.
   *
   * @param maxLiveKeys at least 1
   */
  public StepStateContext(
      StepRows rows,
      Coder<K> keyCoder,
      Coder<? extends BoundedWindow> windowCoder,
      StepClock clock,
      int maxLiveKeys) {
    this(rows, keyCoder, windowCoder, clock, maxLiveKeys, MAX_HELD_BYTES);
  }

  /**
   * As the constructor, for a step whose timers do not hold the watermark: its holds are all in its
   * state.
   */
  public static <K> StepStateContext<K> withoutTimerHolds(
      StepRows rows,
      Coder<K> keyCoder,
      Coder<? extends BoundedWindow> windowCoder,
      StepClock clock,
      int maxLiveKeys) {
    return new StepStateContext<>(
        rows, keyCoder, windowCoder, clock, maxLiveKeys, MAX_HELD_BYTES, false);
  }

  StepStateContext(
      StepRows rows,
      Coder<K> keyCoder,
      Coder<? extends BoundedWindow> windowCoder,
      StepClock clock,
      int maxLiveKeys,
      long maxHeldBytes) {
    this(rows, keyCoder, windowCoder, clock, maxLiveKeys, maxHeldBytes, true);
  }

  private StepStateContext(
      StepRows rows,
      Coder<K> keyCoder,
      Coder<? extends BoundedWindow> windowCoder,
      StepClock clock,
      int maxLiveKeys,
      long maxHeldBytes,
      boolean timersHold) {
    this.rows = Objects.requireNonNull(rows, "rows");
    this.keyCoder = Objects.requireNonNull(keyCoder, "keyCoder");
    this.clock = Objects.requireNonNull(clock, "clock");
    if (maxLiveKeys < 1) {
      throw new IllegalArgumentException("maxLiveKeys must be at least 1: " + maxLiveKeys);
    }
    this.maxLiveKeys = maxLiveKeys;
    this.maxHeldBytes = maxHeldBytes;
    this.holds = new HoldIndex(rows);
    this.timers =
        timersHold
            ? new StepTimers(rows, holds, windowCoder)
            : StepTimers.withoutHolds(rows, windowCoder);
  }

  /**
   * State and timers of a key. The key is decoded only if it is not in memory.
   *
   * @param keyBytes the key as {@code keyCoder.encode(key, stream)} writes it (without the outer
   *     context), or as a {@link FiredTimer} has it; the same bytes always, as they say which rows
   *     are the key's. Not to be changed
   */
  public KeyState<K> forKey(byte[] keyBytes) {
    ByteKey liveKey = new ByteKey(keyBytes);
    KeyState<K> state = liveKeys.get(liveKey);
    if (state == null) {
      state = newKeyState(decode(keyBytes), keyBytes);
      liveKeys.put(liveKey, state);
    }
    // The key asked for stands last: it is never the oldest while there is another one.
    while (liveKeys.size() > maxLiveKeys
        || (memory.heldBytes() > maxHeldBytes && liveKeys.size() > 1)) {
      releaseOldest();
    }
    return state;
  }

  /** The timers of all keys. */
  public StepTimers timers() {
    return timers;
  }

  /** The holds of all keys: those of state cells and of timers, and any the engine adds. */
  public HoldIndex holds() {
    return holds;
  }

  /** Removes and returns the earliest due timer over all keys: {@link StepTimers#nextDue}. */
  public FiredTimer nextDue(TimeDomain domain, long nowMillis) {
    return timers.nextDue(domain, nowMillis);
  }

  /**
   * Writes all that is held in memory to the level's rows: cells by the order in which their keys
   * were asked for last, timers, holds, then the step's totals. Everything stays usable.
   */
  public void flush() {
    liveKeys.values().forEach(KeyState::flush);
    timers.flush();
    holds.flush();
    rows.flush();
  }

  /** What the cells in memory hold back, in encoded bytes. */
  long heldBytes() {
    return memory.heldBytes();
  }

  private void releaseOldest() {
    Iterator<KeyState<K>> oldestFirst = liveKeys.values().iterator();
    KeyState<K> oldest = oldestFirst.next();
    oldestFirst.remove();
    oldest.release();
  }

  private KeyState<K> newKeyState(K key, byte[] keyBytes) {
    return new KeyState<>(
        new StepStateInternals<>(key, keyBytes, rows, holds, memory),
        new KeyTimerInternals(keyBytes, timers, clock));
  }

  private K decode(byte[] keyBytes) {
    try {
      return keyCoder.decode(new ByteInput(keyBytes));
    } catch (IOException | RuntimeException e) {
      throw new IllegalStateException(
          rows.stepName() + ": " + keyCoder + " cannot decode a key of " + keyBytes.length
              + " bytes",
          e);
    }
  }
}
