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

import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * What views have been made of their panes in this JVM, for one run of a pipeline: shared by all
 * partitions and kept across epochs, as long as memory allows.
 *
 * <p>A pane is known by an id that no other content has, so what is found here is what would be made
 * of the state's rows. Thread-safe; of several threads that want the same, one makes it.
 */
public final class MaterializedViews {
  private static final int SLOTS_BEFORE_PURGE = 256;

  private final Map<PaneId, Slot> slots = new ConcurrentHashMap<>();

  /** Names the content of a pane. */
  public record PaneId(long high, long low) {}

  /** A value that user code reads; may be null. */
  public record Materialized(Object value) {}

  private static final class Slot {
    private SoftReference<Materialized> reference = new SoftReference<>(null);

    synchronized Materialized get(Supplier<Materialized> make) {
      Materialized known = reference.get();
      if (known == null) {
        known = make.get();
        reference = new SoftReference<>(known);
      }
      return known;
    }

    synchronized boolean isEmpty() {
      return reference.get() == null;
    }
  }

  /**
   * What a pane has been made into.
   *
   * @param make makes it if it is not there; what it throws is thrown, and nothing is kept
   */
  public Materialized get(PaneId id, Supplier<Materialized> make) {
    if (slots.size() > SLOTS_BEFORE_PURGE) {
      slots.values().removeIf(Slot::isEmpty);
    }
    return slots.computeIfAbsent(id, key -> new Slot()).get(make);
  }

  /** Forgets a pane that was replaced; one who still has it keeps it, or makes it again. */
  void remove(PaneId id) {
    slots.remove(id);
  }
}
