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
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;

/**
 * The rows of a set or map, one per entry: {@code (step, ITEM, key, namespace, state id) ->
 * (sub-key) -> value}, and their number in the cell's head row. A change touches its own row and,
 * once per flush, the head; an empty collection needs no look at its rows.
 */
final class ItemRows {
  private final CellAddress address;
  private final byte[] prefix;
  private boolean loaded;
  private boolean countChanged;
  private long count;

  ItemRows(CellAddress address) {
    this.address = address;
    this.prefix = address.itemPrefix();
  }

  boolean isEmpty() {
    load();
    return count == 0;
  }

  byte[] get(byte[] subKey) {
    return isEmpty() ? null : address.rows().get(prefix, subKey);
  }

  void put(byte[] subKey, byte[] value) {
    if (get(subKey) == null) {
      address.rows().insert(prefix, subKey, value);
      changeCount(1);
    } else {
      address.rows().put(prefix, subKey, value);
    }
  }

  void remove(byte[] subKey) {
    if (get(subKey) != null) {
      address.rows().remove(prefix, subKey);
      changeCount(-1);
    }
  }

  /** All rows as they are now. */
  Iterator<StateRow> scan() {
    return isEmpty() ? List.<StateRow>of().iterator() : address.rows().scan(prefix);
  }

  void clear() {
    if (!isEmpty()) {
      address.rows().forEach(prefix, row -> address.rows().remove(prefix, row.suffix()));
      changeCount(-count);
    }
  }

  void flush() {
    if (countChanged) {
      address.setHead(count == 0 ? null : new ByteOutput().writeVarLong(count).toByteArray());
      countChanged = false;
    }
  }

  private void changeCount(long delta) {
    count += delta;
    countChanged = true;
  }

  private void load() {
    if (!loaded) {
      byte[] head = address.head();
      count = head == null ? 0 : new ByteInput(head).readVarLong();
      loaded = true;
    }
  }
}
