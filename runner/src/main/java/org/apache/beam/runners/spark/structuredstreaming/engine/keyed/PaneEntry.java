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

/** What a step knows in memory of one key in one window, during one epoch. */
abstract class PaneEntry {
  static final long NO_HOLD = Long.MAX_VALUE;

  private final byte[] key;
  private final int hash;

  /** Index of the last pane that was emitted, -1 if none was. */
  private int paneIndex = -1;

  /** Earliest hold of the elements in the pane to come, {@link #NO_HOLD} if none holds. */
  private long hold = NO_HOLD;

  private boolean done;

  PaneEntry(byte[] key, int hash) {
    this.key = key;
    this.hash = hash;
  }

  final byte[] key() {
    return key;
  }

  final int hash() {
    return hash;
  }

  final int paneIndex() {
    return paneIndex;
  }

  final void setPaneIndex(int index) {
    paneIndex = index;
  }

  final long hold() {
    return hold;
  }

  final void holdAt(long timestampMillis) {
    hold = Math.min(hold, timestampMillis);
  }

  final void clearHold() {
    hold = NO_HOLD;
  }

  /** Whether this entry was emitted or written and is not to be looked at again. */
  final boolean isDone() {
    return done;
  }

  final void setDone() {
    done = true;
  }
}
