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

import java.io.Closeable;
import java.util.Iterator;

/**
 * Rows that go with this object: the state of a batch pipeline, of one key. With {@code limit} a
 * number of bytes:
 *
 * <ul>
 *   <li>Rows that never took more than {@code limit} together were in memory alone.
 *   <li>Whenever the rows in memory exceed {@code limit}, all of them go to a temporary store on disk,
 *       and come back one by one as they are read.
 * </ul>
 *
 * <p>{@link #close} deletes what is on disk; so does the end of the task, if it comes first.
 */
public final class SpillingStateRows implements StateRows, Closeable {
  private final TemporaryStore disk = new TemporaryStore(true);
  private final CachedStateRows rows;

  /** Rows that may take as much memory as {@link StateMemory} says. */
  public SpillingStateRows() {
    this(StateMemory.limitBytes());
  }

  SpillingStateRows(long limitBytes) {
    this.rows = new CachedStateRows(disk, limitBytes);
  }

  @Override
  public byte[] get(byte[] prefix, byte[] suffix) {
    return rows.get(prefix, suffix);
  }

  @Override
  public void put(byte[] prefix, byte[] suffix, byte[] value) {
    rows.put(prefix, suffix, value);
  }

  @Override
  public void insert(byte[] prefix, byte[] suffix, byte[] value) {
    rows.insert(prefix, suffix, value);
  }

  @Override
  public void remove(byte[] prefix, byte[] suffix) {
    rows.remove(prefix, suffix);
  }

  @Override
  public Iterator<StateRow> scan(byte[] prefix) {
    return rows.scan(prefix);
  }

  /** What has never been on disk is not taken there to be drained. */
  @Override
  public Iterator<StateRow> drain(byte[] prefix) {
    if (disk.isOpen()) {
      return rows.drain(prefix);
    }
    Iterator<StateRow> all = rows.scan(prefix);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return all.hasNext();
      }

      @Override
      public StateRow next() {
        StateRow row = all.next();
        rows.remove(prefix, row.suffix());
        return row;
      }
    };
  }

  /** Does nothing: what lies behind is no more durable than this. */
  @Override
  public void flush() {}

  /** Whether rows have gone to disk. */
  boolean isOnDisk() {
    return disk.isOpen();
  }

  /** Drops all rows; they are not used afterwards. */
  @Override
  public void close() {
    disk.close();
  }
}
