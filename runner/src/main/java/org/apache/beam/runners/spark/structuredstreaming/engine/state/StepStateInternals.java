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

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.beam.runners.core.StateInternals;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.core.StateTag;
import org.apache.beam.runners.core.StateTags;
import org.apache.beam.sdk.state.State;
import org.apache.beam.sdk.state.StateContext;

/**
 * The state of one key of a step during one epoch. There is one cell object for each namespace and
 * tag, so a cell that is touched a thousand times is read and written once.
 *
 * <p>The step's rows are behind until {@link #flush}. After {@link #release} the object refuses to
 * be used: another one may stand for the key then.
 */
final class StepStateInternals<K> implements StateInternals {
  private final K key;
  private final byte[] keyBytes;
  private final StepRows rows;
  private final HoldIndex holds;
  private final CellMemory memory;
  private final Map<StateNamespace, NamespaceCells> namespaces = new LinkedHashMap<>();
  // The namespace used last: most accesses stay with one window.
  private NamespaceCells current;
  private boolean released;

  /**
   * The state that the step's rows hold for a key.
   *
   * @param key null only for keys that are null
   * @param memory shared by all keys of the step
   */
  StepStateInternals(K key, byte[] keyBytes, StepRows rows, HoldIndex holds, CellMemory memory) {
    this.key = key;
    this.keyBytes = Objects.requireNonNull(keyBytes, "keyBytes");
    this.rows = Objects.requireNonNull(rows, "rows");
    this.holds = Objects.requireNonNull(holds, "holds");
    this.memory = Objects.requireNonNull(memory, "memory");
  }

  @Override
  public K getKey() {
    return key;
  }

  /**
   * The cell; the same object for the same namespace and tag id. A combine function with context is
   * bound to the context of the first call.
   */
  @Override
  public <T extends State> T state(
      StateNamespace namespace, StateTag<T> tag, StateContext<?> context) {
    if (released) {
      throw new IllegalStateException(
          rows.stepName() + ": the state of a key was used after it had been written back");
    }
    NamespaceCells cells = cells(namespace);
    // System and user tags may have the same id. Their equals() does not tell them apart.
    boolean isSystem = StateTags.isSystemTagInternal(tag);
    Map<String, StateCell> byId = isSystem ? cells.system : cells.user;
    StateCell cell = byId.get(tag.getId());
    if (cell == null) {
      CellAddress address =
          new CellAddress(
              rows,
              keyBytes,
              cells.namespace,
              (isSystem ? "s" : "u") + tag.getId(),
              cells.headPrefix,
              memory);
      cell = (StateCell) tag.getSpec().bind(tag.getId(), new CellBinder(address, holds, context));
      byId.put(tag.getId(), cell);
    }
    @SuppressWarnings("unchecked") // The tag's own spec made the cell, through the binder.
    T typed = (T) cell;
    return typed;
  }

  /** Writes what changed to the step's rows. */
  void flush() {
    namespaces.values().forEach(cells -> cells.forEach(StateCell::flush));
  }

  /** Flushes; iterables read from the cells stay readable, the cells themselves do not. */
  void release() {
    namespaces.values().forEach(cells -> cells.forEach(StateCell::release));
    released = true;
  }

  private NamespaceCells cells(StateNamespace namespace) {
    if (current != null && current.stateNamespace.equals(namespace)) {
      return current;
    }
    NamespaceCells cells = namespaces.get(namespace);
    if (cells == null) {
      cells = new NamespaceCells(namespace, rows, keyBytes);
      namespaces.put(namespace, cells);
    }
    current = cells;
    return cells;
  }

  private static final class NamespaceCells {
    final StateNamespace stateNamespace;
    final String namespace;
    final byte[] headPrefix;
    final Map<String, StateCell> system = new HashMap<>();
    final Map<String, StateCell> user = new HashMap<>();

    NamespaceCells(StateNamespace stateNamespace, StepRows rows, byte[] keyBytes) {
      this.stateNamespace = stateNamespace;
      this.namespace = stateNamespace.stringKey();
      this.headPrefix = CellAddress.headPrefix(rows, keyBytes, namespace);
    }

    void forEach(Consumer<StateCell> action) {
      system.values().forEach(action);
      user.values().forEach(action);
    }
  }
}
