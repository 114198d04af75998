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
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Rows in a map, which count how often each is touched. */
public final class CountingStateRows implements StateRows {
  final Map<ByteKey, Map<ByteKey, byte[]>> rows = new HashMap<>();
  final Map<List<ByteKey>, Integer> gets = new HashMap<>();
  final Map<List<ByteKey>, Integer> writes = new HashMap<>();
  final Map<ByteKey, Integer> scans = new HashMap<>();
  int scannedRows;

  @Override
  public byte[] get(byte[] prefix, byte[] suffix) {
    gets.merge(List.of(new ByteKey(prefix), new ByteKey(suffix)), 1, Integer::sum);
    return rows.getOrDefault(new ByteKey(prefix), Map.of()).get(new ByteKey(suffix));
  }

  @Override
  public void put(byte[] prefix, byte[] suffix, byte[] value) {
    writes.merge(List.of(new ByteKey(prefix), new ByteKey(suffix)), 1, Integer::sum);
    rows.computeIfAbsent(new ByteKey(prefix), key -> new HashMap<>())
        .put(new ByteKey(suffix), value);
  }

  @Override
  public void insert(byte[] prefix, byte[] suffix, byte[] value) {
    if (rows.getOrDefault(new ByteKey(prefix), Map.of()).containsKey(new ByteKey(suffix))) {
      throw new AssertionError("insert of a row that exists");
    }
    put(prefix, suffix, value);
  }

  @Override
  public void remove(byte[] prefix, byte[] suffix) {
    writes.merge(List.of(new ByteKey(prefix), new ByteKey(suffix)), 1, Integer::sum);
    Map<ByteKey, byte[]> byPrefix = rows.get(new ByteKey(prefix));
    if (byPrefix != null) {
      byPrefix.remove(new ByteKey(suffix));
      if (byPrefix.isEmpty()) {
        rows.remove(new ByteKey(prefix));
      }
    }
  }

  @Override
  public Iterator<StateRow> scan(byte[] prefix) {
    scans.merge(new ByteKey(prefix), 1, Integer::sum);
    List<StateRow> found = new ArrayList<>();
    rows.getOrDefault(new ByteKey(prefix), Map.of())
        .forEach((suffix, value) -> found.add(new StateRow(suffix.bytes(), value)));
    scannedRows += found.size();
    return found.iterator();
  }

  @Override
  public Iterator<StateRow> drain(byte[] prefix) {
    List<StateRow> found = new ArrayList<>();
    scan(prefix).forEachRemaining(found::add);
    found.forEach(row -> remove(prefix, row.suffix()));
    return found.iterator();
  }

  @Override
  public void flush() {}

  void resetCounts() {
    gets.clear();
    writes.clear();
    scans.clear();
    scannedRows = 0;
  }

  /** Number of rows. */
  public int size() {
    return rows.values().stream().mapToInt(Map::size).sum();
  }
}
