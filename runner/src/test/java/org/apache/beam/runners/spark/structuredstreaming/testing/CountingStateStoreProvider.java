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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreMetrics;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/**
 * Spark's heap state store, which also counts in this JVM the rows that every epoch reads and writes:
 * looked up, scanned, put or removed. Set it as {@code spark.sql.streaming.stateStore.providerClass}.
 */
public final class CountingStateStoreProvider extends HDFSBackedStateStoreProvider {
  private static final Map<Long, LongAdder> READ = new ConcurrentHashMap<>();
  private static final Map<Long, LongAdder> WRITTEN = new ConcurrentHashMap<>();

  /** Called by Spark, by reflection. */
  public CountingStateStoreProvider() {}

  /** Forgets all counts. */
  public static void reset() {
    READ.clear();
    WRITTEN.clear();
  }

  /** Rows read, by epoch. */
  public static Map<Long, Long> read() {
    return counts(READ);
  }

  /** Rows written or removed, by epoch. */
  public static Map<Long, Long> written() {
    return counts(WRITTEN);
  }

  private static Map<Long, Long> counts(Map<Long, LongAdder> counters) {
    Map<Long, Long> counts = new TreeMap<>();
    counters.forEach((epoch, counter) -> counts.put(epoch, counter.sum()));
    return counts;
  }

  @Override
  public StateStore getStore(long version) {
    return new CountingStore(super.getStore(version));
  }

  private static LongAdder counter(Map<Long, LongAdder> counters) {
    long epoch = TaskContext.get() == null ? -1 : Recorder.currentEpoch();
    return counters.computeIfAbsent(epoch, key -> new LongAdder());
  }

  private static final class CountingStore implements StateStore {
    private final StateStore store;
    private final LongAdder read = counter(READ);
    private final LongAdder written = counter(WRITTEN);

    CountingStore(StateStore store) {
      this.store = store;
    }

    @Override
    public StateStoreId id() {
      return store.id();
    }

    @Override
    public long version() {
      return store.version();
    }

    @Override
    public UnsafeRow get(UnsafeRow key) {
      read.increment();
      return store.get(key);
    }

    @Override
    public Iterator<UnsafeRowPair> prefixScan(UnsafeRow prefix) {
      return counted(store.prefixScan(prefix));
    }

    @Override
    public Iterator<UnsafeRowPair> iterator() {
      return counted(store.iterator());
    }

    private Iterator<UnsafeRowPair> counted(Iterator<UnsafeRowPair> rows) {
      return rows.map(
          new AbstractFunction1<UnsafeRowPair, UnsafeRowPair>() {
            @Override
            public UnsafeRowPair apply(UnsafeRowPair row) {
              read.increment();
              return row;
            }
          });
    }

    @Override
    public void put(UnsafeRow key, UnsafeRow value) {
      written.increment();
      store.put(key, value);
    }

    @Override
    public void remove(UnsafeRow key) {
      written.increment();
      store.remove(key);
    }

    @Override
    public long commit() {
      return store.commit();
    }

    @Override
    public void abort() {
      store.abort();
    }

    @Override
    public StateStoreMetrics metrics() {
      return store.metrics();
    }

    @Override
    public boolean hasCommitted() {
      return store.hasCommitted();
    }
  }
}
