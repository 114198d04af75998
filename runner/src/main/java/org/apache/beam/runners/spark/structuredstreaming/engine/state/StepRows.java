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

import java.util.Iterator;
import java.util.Objects;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;

/**
 * The rows of one step among those of its level and partition: all prefixes begin with the step's
 * stable id. Keeps exact totals.
 *
 * <p>Invariant: {@code rows()} and {@code bytes()} are the number of rows of the step and the bytes
 * of their prefixes, suffixes and values, those of {@link #putUncounted} and of the totals excepted.
 * They are stored by {@link #flush} and so need no scan after a restart; a step without rows stores
 * nothing. What cells, timers and holds keep in memory counts once {@link StepStateContext#flush}
 * has made rows of it.
 */
public final class StepRows implements StateRows {
  private static final byte[] NO_SUFFIX = new byte[0];

  private final StateRows rows;
  private final long stableId;
  private final String stepName;
  private final byte[] totalsPrefix;
  private boolean totalsLoaded;
  private boolean totalsChanged;
  private long rowCount;
  private long byteCount;

  /**
   * A view of the step's rows.
   *
   * @param rows those of the level and partition, shared by its steps
   * @param stepName the transform's full name, for errors
   */
  public StepRows(StateRows rows, long stableId, String stepName) {
    this.rows = Objects.requireNonNull(rows, "rows");
    this.stableId = stableId;
    this.stepName = Objects.requireNonNull(stepName, "stepName");
    this.totalsPrefix = prefix(RowKeys.TOTALS).toByteArray();
  }

  public long stableId() {
    return stableId;
  }

  public String stepName() {
    return stepName;
  }

  /** A new writer that holds the beginning of a prefix of this step; see {@link RowKeys}. */
  public ByteOutput prefix(byte kind) {
    return RowKeys.prefix(stableId, kind);
  }

  /** Live rows. */
  public long rows() {
    loadTotals();
    return rowCount;
  }

  /** Bytes of all live rows, keys included. */
  public long bytes() {
    loadTotals();
    return byteCount;
  }

  @Override
  public byte[] get(byte[] prefix, byte[] suffix) {
    checkPrefix(prefix);
    return rows.get(prefix, suffix);
  }

  @Override
  public void put(byte[] prefix, byte[] suffix, byte[] value) {
    checkPrefix(prefix);
    byte[] old = rows.get(prefix, suffix);
    if (old == null) {
      rows.insert(prefix, suffix, value);
      changeTotals(1, (long) prefix.length + suffix.length + value.length);
    } else {
      rows.put(prefix, suffix, value);
      changeTotals(0, (long) value.length - old.length);
    }
  }

  /**
   * Writes a row of the engine's own bookkeeping, which is there whether the step has state or not
   * and counts in no total. Such a row is never removed, and written by this method alone.
   */
  public void putUncounted(byte[] prefix, byte[] suffix, byte[] value) {
    checkPrefix(prefix);
    rows.put(prefix, suffix, value);
  }

  @Override
  public void insert(byte[] prefix, byte[] suffix, byte[] value) {
    checkPrefix(prefix);
    rows.insert(prefix, suffix, value);
    changeTotals(1, (long) prefix.length + suffix.length + value.length);
  }

  @Override
  public void remove(byte[] prefix, byte[] suffix) {
    checkPrefix(prefix);
    byte[] old = rows.get(prefix, suffix);
    if (old != null) {
      rows.remove(prefix, suffix);
      changeTotals(-1, -((long) prefix.length + suffix.length + old.length));
    }
  }

  @Override
  public Iterator<StateRow> scan(byte[] prefix) {
    checkPrefix(prefix);
    return rows.scan(prefix);
  }

  @Override
  public Iterator<StateRow> drain(byte[] prefix) {
    checkPrefix(prefix);
    Iterator<StateRow> drained = rows.drain(prefix);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return drained.hasNext();
      }

      @Override
      public StateRow next() {
        StateRow row = drained.next();
        changeTotals(-1, -((long) prefix.length + row.suffix().length + row.value().length));
        return row;
      }
    };
  }

  /** Stores the totals among the rows below; does not flush those, which other steps share. */
  @Override
  public void flush() {
    if (!totalsChanged) {
      return;
    }
    if (rowCount < 0 || byteCount < 0 || (rowCount == 0) != (byteCount == 0)) {
      throw new IllegalStateException(
          stepName + ": state totals of " + rowCount + " rows and " + byteCount + " bytes");
    }
    if (rowCount == 0) {
      rows.remove(totalsPrefix, NO_SUFFIX);
    } else {
      byte[] totals = new ByteOutput().writeVarLong(rowCount).writeVarLong(byteCount).toByteArray();
      rows.put(totalsPrefix, NO_SUFFIX, totals);
    }
    totalsChanged = false;
  }

  private void changeTotals(long rowDelta, long byteDelta) {
    loadTotals();
    rowCount += rowDelta;
    byteCount += byteDelta;
    totalsChanged = true;
  }

  private void loadTotals() {
    if (!totalsLoaded) {
      byte[] totals = rows.get(totalsPrefix, NO_SUFFIX);
      if (totals != null) {
        ByteInput reader = new ByteInput(totals);
        rowCount = reader.readVarLong();
        byteCount = reader.readVarLong();
      }
      totalsLoaded = true;
    }
  }

  private void checkPrefix(byte[] prefix) {
    if (!RowKeys.belongsTo(stableId, prefix)) {
      throw new IllegalArgumentException(
          stepName + ": a row under a prefix that does not begin with the step's id");
    }
  }
}
