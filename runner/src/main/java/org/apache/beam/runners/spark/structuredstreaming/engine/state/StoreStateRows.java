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

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;

/**
 * The rows of one version of a Spark state store, directly: every call reaches the store.
 *
 * <p>Rows are built in buffers that are used again and again. That is allowed: the heap store
 * copies what it is given, RocksDB takes the bytes. What the stores return is copied here, as the
 * heap store returns rows of its own map and RocksDB a row it will use again.
 *
 * <p>A scan is read to its end before its first row is returned: the heap store iterates over a set
 * that changes with the rows, and an iterator of RocksDB holds native memory until its end.
 *
 * <p>What is too large for one row of a store lies in several, see {@link LargeRows}.
 */
public final class StoreStateRows implements StateRows {
  private static final int INITIAL_ROW_BYTES = 256;

  private final StateStore store;
  private final UnsafeRowWriter keyWriter = new UnsafeRowWriter(2, INITIAL_ROW_BYTES);
  private final UnsafeRowWriter prefixWriter = new UnsafeRowWriter(1, INITIAL_ROW_BYTES);
  private final UnsafeRowWriter valueWriter = new UnsafeRowWriter(1, INITIAL_ROW_BYTES);
  private final LargeRows large = new LargeRows(this);
  private boolean closed;

  /**
   * Takes over an open store.
   *
   * @param store opened by {@link StateStores#open}; this object commits or aborts it
   */
  public StoreStateRows(StateStore store) {
    this.store = Objects.requireNonNull(store, "store");
  }

  @Override
  public byte[] get(byte[] prefix, byte[] suffix) {
    checkOpen();
    UnsafeRow value = stored(prefix, suffix);
    if (value == null) {
      return null;
    }
    return value.isNullAt(0) ? large.read(prefix, suffix).value() : value.getBinary(0);
  }

  @Override
  public void put(byte[] prefix, byte[] suffix, byte[] value) {
    checkOpen();
    large.forget(prefix, suffix);
    write(prefix, suffix, value);
  }

  @Override
  public void insert(byte[] prefix, byte[] suffix, byte[] value) {
    checkOpen();
    write(prefix, suffix, value);
  }

  private void write(byte[] prefix, byte[] suffix, byte[] value) {
    if (LargeRows.isLarge(suffix, value)) {
      large.write(prefix, suffix, value);
    } else {
      putStored(prefix, suffix, value);
    }
  }

  @Override
  public void remove(byte[] prefix, byte[] suffix) {
    checkOpen();
    large.forget(prefix, suffix);
    removeStored(prefix, suffix);
  }

  /** The one row of the store under this key, valid until the next access; null if there is none. */
  UnsafeRow stored(byte[] prefix, byte[] suffix) {
    return store.get(storedKey(prefix, suffix));
  }

  /**
   * Writes one row of the store.
   *
   * @param value null to say that suffix and value lie in parts
   */
  void putStored(byte[] prefix, byte[] suffix, byte[] value) {
    valueWriter.reset();
    valueWriter.zeroOutNullBytes();
    if (value == null) {
      valueWriter.setNullAt(0);
    } else {
      valueWriter.write(0, value);
    }
    store.put(storedKey(prefix, suffix), valueWriter.getRow());
  }

  void removeStored(byte[] prefix, byte[] suffix) {
    store.remove(storedKey(prefix, suffix));
  }

  private UnsafeRow storedKey(byte[] prefix, byte[] suffix) {
    return row(keyWriter, LargeRows.stored(prefix), LargeRows.stored(suffix));
  }

  @Override
  public Iterator<StateRow> scan(byte[] prefix) {
    checkOpen();
    List<StateRow> rows = new ArrayList<>();
    stream(prefix).forEachRemaining(rows::add);
    return rows.iterator();
  }

  /**
   * Reads on in the store while rows are removed where its iterators are snapshots, as RocksDB's
   * are. The heap store's are not, but its rows are in memory anyway: there they are listed first.
   */
  @Override
  public Iterator<StateRow> drain(byte[] prefix) {
    checkOpen();
    Iterator<StateRow> rows =
        store instanceof RocksDBStateStoreProvider.RocksDBStateStore
            ? stream(prefix)
            : scan(prefix);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public StateRow next() {
        StateRow row = rows.next();
        StoreStateRows.this.remove(prefix, row.suffix());
        return row;
      }
    };
  }

  private Iterator<StateRow> stream(byte[] prefix) {
    scala.collection.Iterator<UnsafeRowPair> pairs =
        store.prefixScan(row(prefixWriter, LargeRows.stored(prefix)));
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return pairs.hasNext();
      }

      @Override
      public StateRow next() {
        UnsafeRowPair pair = pairs.next();
        byte[] suffix = pair.key().getBinary(1);
        return pair.value().isNullAt(0)
            ? large.read(prefix, suffix)
            : new StateRow(suffix, pair.value().getBinary(0));
      }
    };
  }

  /** Nothing is held back here. */
  @Override
  public void flush() {
    checkOpen();
  }

  /**
   * Makes all changes the next version of the store, durably. A task whose commit failed calls
   * {@link #abort}; it may then be run again from the version it started with.
   *
   * @return the new version
   */
  public long commit() {
    checkOpen();
    large.flush();
    long version = store.commit();
    closed = true;
    return version;
  }

  /** Drops all changes. Does nothing after a commit or an earlier abort. */
  public void abort() {
    if (!closed) {
      closed = true;
      StateStores.abortUnlessCommitted(store);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException(
          store.id() + ", version " + store.version() + ": used after its commit or abort."
              + " State, and iterables read from it, end with the epoch");
    }
  }

  private static UnsafeRow row(UnsafeRowWriter writer, byte[] first) {
    writer.reset();
    writer.zeroOutNullBytes();
    writer.write(0, first);
    return writer.getRow();
  }

  private static UnsafeRow row(UnsafeRowWriter writer, byte[] first, byte[] second) {
    writer.reset();
    writer.zeroOutNullBytes();
    writer.write(0, first);
    writer.write(1, second);
    return writer.getRow();
  }
}
