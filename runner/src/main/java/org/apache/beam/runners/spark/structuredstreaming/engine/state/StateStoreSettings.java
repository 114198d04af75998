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

import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.internal.SQLConf;

/**
 * The configuration of this runner's state stores: what the user set in Spark's configuration, and
 * where nothing is set the following instead of Spark's defaults.
 *
 * <ul>
 *   <li>The RocksDB provider. Spark's default keeps all state of a partition, in several versions,
 *       on the heap, and copies the map of keys at the start of every epoch.
 *   <li>Changelog checkpointing. Without it each commit uploads the changed files of the database;
 *       with it an epoch writes what it changed, and snapshots follow in the background.
 *   <li>No count of all rows. Spark's own count reads every row before it is written; this runner
 *       keeps its own totals ({@link StepRows}).
 * </ul>
 *
 * <p>What the user set wins, as the settings are Spark's and may have been chosen for a file system
 * or memory budget this runner knows nothing of.
 */
public final class StateStoreSettings {
  private static final String ROCKSDB = "spark.sql.streaming.stateStore.rocksdb.";
  private static final String ROCKSDB_PROVIDER =
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider";

  private StateStoreSettings() {}

  /**
   * The store configuration for a query of a session with {@code sessionConf}. Called in the
   * driver; the result is serializable and goes to the tasks.
   */
  public static StateStoreConf of(SQLConf sessionConf) {
    SQLConf conf = sessionConf.clone();
    setDefault(conf, SQLConf.STATE_STORE_PROVIDER_CLASS().key(), ROCKSDB_PROVIDER);
    setDefault(conf, ROCKSDB + "changelogCheckpointing.enabled", "true");
    setDefault(conf, ROCKSDB + "trackTotalNumberOfRows", "false");
    return new StateStoreConf(conf, scala.collection.immutable.Map$.MODULE$.empty());
  }

  private static void setDefault(SQLConf conf, String key, String value) {
    // Spark reads RocksDB's settings ignoring case, so the user's may be spelled in any way.
    boolean set = conf.getAllConfs().keysIterator().exists(name -> name.equalsIgnoreCase(key));
    if (!set) {
      conf.setConfString(key, value);
    }
  }
}
