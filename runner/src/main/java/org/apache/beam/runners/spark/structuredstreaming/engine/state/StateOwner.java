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

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.UUID;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;

/**
 * Whose the state of a store is. Spark's files do not say it, so the store's rows do: with {@code v}
 * for any committed version but 0, which is empty,
 *
 * <pre>
 * row(v) = (id of the checkpoint, level, partition, v)
 * </pre>
 *
 * <p>What is opened and says otherwise was made from a file of another checkpoint, level, partition or
 * version, and is refused. A single foreign file of changes is found out if it holds the last ones;
 * behind an earlier one, the changes of a later version have the row right again.
 */
public final class StateOwner {
  // As LargeRows' own: shorter than any prefix of a step's rows.
  private static final byte[] PREFIX = {2};
  private static final byte[] NONE = {};
  private static final int ROW_BYTES = 4 * Long.BYTES + Integer.BYTES;

  private final UUID checkpointId;
  private final StateStoreProviderId store;

  /**
   * Names the owner.
   *
   * @param checkpointId the same for all starts with the checkpoint
   * @param store gives level and partition
   */
  public StateOwner(UUID checkpointId, StateStoreProviderId store) {
    this.checkpointId = checkpointId;
    this.store = store;
  }

  /**
   * Checks the rows of a version that has just been opened.
   *
   * @throws StateUnavailableException if they are another's
   */
  public void check(StoreStateRows rows, long version) {
    if (version == 0) {
      return;
    }
    UnsafeRow stored = rows.stored(PREFIX, NONE);
    byte[] found = stored == null ? NONE : stored.getBinary(0);
    byte[] expected = row(version);
    if (!Arrays.equals(found, expected)) {
      throw new StateUnavailableException(
          store, version, "it says that it is " + text(found) + ", not " + text(expected));
    }
  }

  /** Notes the owner in what is about to become {@code version}. */
  public void note(StoreStateRows rows, long version) {
    rows.putStored(PREFIX, NONE, row(version));
  }

  private byte[] row(long version) {
    return ByteBuffer.allocate(ROW_BYTES)
        .putLong(checkpointId.getMostSignificantBits())
        .putLong(checkpointId.getLeastSignificantBits())
        .putLong(store.storeId().operatorId())
        .putInt(store.storeId().partitionId())
        .putLong(version)
        .array();
  }

  private static String text(byte[] row) {
    if (row.length != ROW_BYTES) {
      return "nobody's";
    }
    ByteBuffer fields = ByteBuffer.wrap(row);
    return "version %4$d of level %2$d, partition %3$d of checkpoint %1$s"
        .formatted(
            new UUID(fields.getLong(), fields.getLong()),
            fields.getLong(),
            fields.getInt(),
            fields.getLong());
  }
}
