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
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.state.OrderedListState;
import org.apache.beam.sdk.state.ReadableState;
import org.apache.beam.sdk.values.TimestampedValue;
import org.joda.time.Instant;

/**
 * A list by timestamp: a list of values for each timestamp, in the order of adding. Adding touches
 * the rows of one timestamp. The store keeps no order, so the first read or clear of a range in an
 * epoch scans the heads of all timestamps once; they are kept sorted in memory from then on.
 */
final class OrderedListCell<T> implements OrderedListState<T>, StateCell {
  private final CellAddress address;
  private final Coder<T> coder;
  private final KeyedLists lists;
  private NavigableSet<Long> timestamps;

  OrderedListCell(CellAddress address, Coder<T> coder) {
    this.address = address;
    this.coder = coder;
    this.lists = new KeyedLists(address);
  }

  @Override
  public void add(TimestampedValue<T> value) {
    long timestamp = value.getTimestamp().getMillis();
    boolean isFirst =
        lists.add(subKey(timestamp), address.encodeToScratch(coder, value.getValue()));
    if (isFirst && timestamps != null) {
      timestamps.add(timestamp);
    }
  }

  @Override
  public Iterable<TimestampedValue<T>> read() {
    return concatenate(timestamps());
  }

  @Override
  public Iterable<TimestampedValue<T>> readRange(Instant minTimestamp, Instant limitTimestamp) {
    return concatenate(range(minTimestamp, limitTimestamp));
  }

  @Override
  public void clearRange(Instant minTimestamp, Instant limitTimestamp) {
    NavigableSet<Long> cleared = range(minTimestamp, limitTimestamp);
    for (long timestamp : cleared) {
      lists.remove(subKey(timestamp));
    }
    cleared.clear();
  }

  @Override
  public OrderedListState<T> readRangeLater(Instant minTimestamp, Instant limitTimestamp) {
    return this;
  }

  @Override
  public ReadableState<Boolean> isEmpty() {
    return DeferredRead.of(lists::isEmpty);
  }

  @Override
  public void clear() {
    lists.clear();
    timestamps = new TreeSet<>();
  }

  @Override
  public OrderedListState<T> readLater() {
    return this;
  }

  @Override
  public void flush() {
    lists.flush();
  }

  @Override
  public void release() {
    lists.release();
  }

  private NavigableSet<Long> timestamps() {
    if (timestamps == null) {
      NavigableSet<Long> found = new TreeSet<>();
      lists.forEachSubKey(subKey -> found.add(new ByteInput(subKey).readOrderedLong()));
      timestamps = found;
    }
    return timestamps;
  }

  /** A view of the timestamps from the minimum, inclusive, to the limit, exclusive. */
  private NavigableSet<Long> range(Instant minTimestamp, Instant limitTimestamp) {
    long minimum = minTimestamp.getMillis();
    long limit = Math.max(minimum, limitTimestamp.getMillis());
    return timestamps().subSet(minimum, true, limit, false);
  }

  private Iterable<TimestampedValue<T>> concatenate(NavigableSet<Long> selected) {
    List<Iterable<TimestampedValue<T>>> byTimestamp = new ArrayList<>(selected.size());
    for (long millis : selected) {
      Instant timestamp = Instant.ofEpochMilli(millis);
      byTimestamp.add(
          new ListIterable<>(
              lists.snapshot(subKey(millis)),
              bytes -> TimestampedValue.of(address.decode(coder, bytes), timestamp)));
    }
    return new ConcatenatedIterable<>(byTimestamp);
  }

  private static byte[] subKey(long timestamp) {
    return new ByteOutput(Long.BYTES).writeOrderedLong(timestamp).toByteArray();
  }
}
