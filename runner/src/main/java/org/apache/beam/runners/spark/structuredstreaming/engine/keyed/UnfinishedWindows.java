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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.ByteReader;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.ByteWriter;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;

/**
 * How many elements of a step are not finished, by the ends of their windows: the multiset of the
 * ends, which is small however many elements there are. Rows: {@code (kind) -> (end): count}.
 */
final class UnfinishedWindows {
  private final StepRows rows;
  private final byte[] prefix;
  private final TreeMap<Long, Long> counts = new TreeMap<>();
  private final Map<Long, Long> stored = new TreeMap<>();

  /** What the rows hold. */
  UnfinishedWindows(StepRows rows, byte kind) {
    this.rows = rows;
    this.prefix = rows.prefix(kind).toByteArray();
    rows.forEach(
        prefix,
        row ->
            counts.put(
                new ByteReader(row.suffix()).int64(), new ByteReader(row.value()).varint()));
    stored.putAll(counts);
  }

  void add(long endMillis) {
    counts.merge(endMillis, 1L, Long::sum);
  }

  /** The counterpart of {@link #add}. */
  void remove(long endMillis) {
    Long left = counts.merge(endMillis, -1L, Long::sum);
    if (left < 0) {
      throw new IllegalStateException(
          rows.stepName() + ": no unfinished element in a window that ends at " + endMillis + " ms");
    }
    if (left == 0) {
      counts.remove(endMillis);
    }
  }

  /** The least end, {@link Long#MAX_VALUE} if all elements are finished. */
  long earliest() {
    return counts.isEmpty() ? Long.MAX_VALUE : counts.firstKey();
  }

  void flush() {
    for (Map.Entry<Long, Long> count : counts.entrySet()) {
      if (!count.getValue().equals(stored.get(count.getKey()))) {
        rows.put(prefix, suffix(count.getKey()), new ByteWriter().varint(count.getValue()).toByteArray());
      }
    }
    for (Long end : stored.keySet()) {
      if (!counts.containsKey(end)) {
        rows.remove(prefix, suffix(end));
      }
    }
    stored.clear();
    stored.putAll(counts);
  }

  private static byte[] suffix(long endMillis) {
    return new ByteWriter(Long.BYTES).int64(endMillis).toByteArray();
  }
}
