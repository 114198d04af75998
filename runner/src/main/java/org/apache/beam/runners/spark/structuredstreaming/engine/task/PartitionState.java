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
package org.apache.beam.runners.spark.structuredstreaming.engine.task;

import org.apache.beam.runners.spark.structuredstreaming.engine.state.CachedStateRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateOwner;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStores;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StoreStateRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.RedistributeStep;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;

/**
 * The state of one level and partition in one epoch: version {@code epoch} is opened and version
 * {@code epoch + 1} committed, so that a task that runs again starts from the same rows.
 */
final class PartitionState {
  private static final long CACHE_BYTES = 32L << 20;

  private final StoreStateRows store;
  private final StateOwner owner;
  private final long version;
  private final CachedStateRows rows;

  private PartitionState(StoreStateRows store, StateOwner owner, long version) {
    this.store = store;
    this.owner = owner;
    this.version = version;
    this.rows = new CachedStateRows(store, CACHE_BYTES);
  }

  /** Whether a level keeps any state: one that only redistributes does not. */
  static boolean isNeeded(Level level) {
    return !level.roots().stream().allMatch(root -> root instanceof RedistributeStep);
  }

  static PartitionState open(TaskAddress address, EngineSetup setup, EngineRuntime runtime) {
    StateSetup state = setup.state();
    StateStoreProviderId id =
        StateStores.id(
            state.location(), address.level(), address.partition(), address.queryRunId());
    runtime.noteStore(id);
    long version = address.epoch();
    StoreStateRows store =
        new StoreStateRows(
            StateStores.open(id, version, state.conf(), state.hadoopConf().value()));
    StateOwner owner = new StateOwner(state.checkpointId(), id);
    owner.check(store, version);
    return new PartitionState(store, owner, version);
  }

  StateRows rows() {
    return rows;
  }

  /** Makes the epoch's changes durable. */
  void commit() {
    rows.flush();
    owner.note(store, version + 1);
    store.commit();
  }

  /** Drops the epoch's changes; does nothing after a commit. */
  void abort() {
    store.abort();
  }
}
