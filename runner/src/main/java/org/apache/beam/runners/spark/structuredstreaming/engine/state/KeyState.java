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

import java.util.HashSet;
import java.util.Set;
import org.apache.beam.runners.core.StateInternals;
import org.apache.beam.runners.core.TimerInternals;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * State and timers of one key of a step, from {@link StepStateContext#forKey}. To be used, cells
 * included, until the context is asked for another key; asked for this key again it may return
 * another object. What is written to a cell kept beyond that may be lost.
 */
public final class KeyState<K> {
  private final StepStateInternals<K> stateInternals;
  private final TimerInternals timerInternals;
  private final Set<BoundedWindow> noted = new HashSet<>(2);
  private BoundedWindow lastNoted;

  KeyState(StepStateInternals<K> stateInternals, TimerInternals timerInternals) {
    this.stateInternals = stateInternals;
    this.timerInternals = timerInternals;
  }

  public K key() {
    return stateInternals.getKey();
  }

  public StateInternals stateInternals() {
    return stateInternals;
  }

  public TimerInternals timerInternals() {
    return timerInternals;
  }

  /**
   * Notes a window, for work that is done once for each while the key is in memory.
   *
   * @return whether it was not noted yet
   */
  public boolean note(BoundedWindow window) {
    if (window.equals(lastNoted)) {
      return false;
    }
    lastNoted = window;
    return noted.add(window);
  }

  /** Takes a note back. */
  public void forget(BoundedWindow window) {
    noted.remove(window);
    lastNoted = null;
  }

  void flush() {
    stateInternals.flush();
  }

  void release() {
    stateInternals.release();
  }
}
