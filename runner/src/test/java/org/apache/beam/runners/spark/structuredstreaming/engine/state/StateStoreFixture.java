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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import org.apache.spark.sql.internal.SQLConf;

/**
 * One level and partition's state in a real store, epoch after epoch. A session must be up: {@link
 * #startSpark}, {@link #stopSpark}.
 */
final class StateStoreFixture {
  /** Spark's two store providers. */
  enum StoreKind {
    ROCKSDB("org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"),
    HEAP("org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider");

    private final String className;

    StoreKind(String className) {
      this.className = className;
    }
  }

  static final long STEP = 0x0102030405060708L;
  static final String STEP_NAME = "Read/Count/Step";
  private static final long CACHE_BYTES = 1 << 20;

  private final String stateRoot;
  private final StateStoreConf conf;
  private UUID runId = UUID.randomUUID();
  private long version;
  private StoreStateRows store;
  private CachedStateRows cache;

  StateStoreFixture(StoreKind provider, Path directory) {
    this.stateRoot = directory.resolve("state").toUri().toString();
    this.conf = conf(provider);
  }

  static void startSpark() {
    SparkSession.builder()
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "localhost")
        .getOrCreate();
    StateStores.coordinator();
  }

  static void stopSpark() {
    StateStore$.MODULE$.stop();
    SparkSession.active().stop();
  }

  static StateStoreConf conf(StoreKind provider) {
    SQLConf sessionConf = new SQLConf();
    sessionConf.setConfString(SQLConf.STATE_STORE_PROVIDER_CLASS().key(), provider.className);
    return StateStoreSettings.of(sessionConf);
  }

  StateStoreProviderId id() {
    return StateStores.id(stateRoot, 1, 0, runId);
  }

  long version() {
    return version;
  }

  StateStore openStore() {
    return StateStores.open(id(), version, conf, new Configuration());
  }

  StoreStateRows openRows() {
    store = new StoreStateRows(openStore());
    return store;
  }

  /** Begins an epoch. */
  StateRows begin() {
    return begin(CACHE_BYTES);
  }

  StateRows begin(long cacheBytes) {
    cache = new CachedStateRows(openRows(), cacheBytes);
    return cache;
  }

  /** Begins an epoch of one step. */
  StepRows beginStep() {
    return new StepRows(begin(), STEP, STEP_NAME);
  }

  /** Ends the epoch durably. */
  void commit() {
    cache.flush();
    version = store.commit();
  }

  void commitRows() {
    version = store.commit();
  }

  /** Ends the epoch as a failed task does. */
  void abort() {
    store.abort();
  }

  /** Lets the next epoch read the store from its files, as a restarted query does. */
  void restart() {
    runId = UUID.randomUUID();
  }

  /** All rows of the current version, in hexadecimal, sorted by key. */
  List<String> storedRows() {
    StateStore current = openStore();
    List<String> rows = new ArrayList<>();
    scala.collection.Iterator<UnsafeRowPair> pairs = current.iterator();
    while (pairs.hasNext()) {
      UnsafeRowPair pair = pairs.next();
      rows.add(
          HexFormat.of().formatHex(pair.key().getBinary(0))
              + "/"
              + HexFormat.of().formatHex(pair.key().getBinary(1)));
    }
    current.abort();
    rows.sort(null);
    return rows;
  }
}
