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

import java.util.Optional;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreCoordinatorRef;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreId$;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;
import scala.Option;

/** Opens Spark's state stores with the one schema this runner has for all of them. */
public final class StateStores {
  private static final StructType KEY_SCHEMA =
      new StructType()
          .add("prefix", DataTypes.BinaryType, false)
          .add("suffix", DataTypes.BinaryType, false);
  // Null says that the row lies in parts: see LargeRows.
  private static final StructType VALUE_SCHEMA =
      new StructType().add("value", DataTypes.BinaryType, true);
  private static final int PREFIX_COLUMNS = 1;

  private StateStores() {}

  /**
   * Names the store of a level and partition. The run id keeps the stores of a restarted query
   * apart from those its predecessor left loaded in the same executors.
   *
   * @param stateRoot directory of all state of the query, under its checkpoint
   */
  public static StateStoreProviderId id(
      String stateRoot, long level, int partition, UUID queryRunId) {
    return new StateStoreProviderId(
        new StateStoreId(stateRoot, level, partition, StateStoreId$.MODULE$.DEFAULT_STORE_NAME()),
        queryRunId);
  }

  /**
   * Opens a version for update, on the thread of a task (or of a test). Within a task the store is
   * aborted when the task ends without having committed: RocksDB would otherwise offer the
   * uncommitted rows to whoever opens the same version next.
   *
   * @param version what the epoch starts from, 0 for none yet; the commit makes {@code version + 1}
   * @throws StateUnavailableException if the version cannot be read; it is never replaced by empty
   *     state. A task that is being killed gets the provider's own exception instead
   */
  public static StateStore open(
      StateStoreProviderId id, long version, StateStoreConf storeConf, Configuration hadoopConf) {
    TaskContext task = TaskContext.get();
    StateStore store;
    try {
      store =
          StateStore$.MODULE$.get(
              id, KEY_SCHEMA, VALUE_SCHEMA, PREFIX_COLUMNS, version, storeConf, hadoopConf);
    } catch (Exception e) {
      // Scala declares no exceptions: what is thrown need not be unchecked.
      if ((task != null && task.isInterrupted()) || Thread.currentThread().isInterrupted()) {
        throw e;
      }
      throw new StateUnavailableException(id, version, e);
    }
    if (task != null) {
      TaskCompletionListener listener = context -> abortUnlessCommitted(store);
      task.addTaskCompletionListener(listener);
    }
    return store;
  }

  /**
   * The coordinator that knows where stores are open. Called in the driver before the first store
   * is opened: it registers the coordinator, if nobody has, and opening a store reports to it.
   */
  public static StateStoreCoordinatorRef coordinator() {
    return StateStoreCoordinatorRef.forDriver(SparkEnv.get());
  }

  /**
   * Where the store was opened last, in the form that an RDD's preferred locations have. Asks the
   * coordinator in the driver; called there.
   */
  public static Optional<String> preferredLocation(
      StateStoreCoordinatorRef coordinator, StateStoreProviderId id) {
    Option<String> location = coordinator.getLocation(id);
    return location.isDefined() ? Optional.of(location.get()) : Optional.empty();
  }

  /** Closes a store in this JVM. Its versions stay; nobody may be using it. */
  public static void unload(StateStoreProviderId id) {
    StateStore$.MODULE$.unload(id);
  }

  /** Drops a store's changes; allowed at any time and any number of times. */
  static void abortUnlessCommitted(StateStore store) {
    if (!store.hasCommitted()) {
      store.abort();
    }
  }
}
