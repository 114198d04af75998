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

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateRow;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateRows;

/** State rows in a map: what the store and its cache do, without either. */
final class MapStateRows implements StateRows {
  private final Map<String, byte[]> rows = new TreeMap<>();
  private final Map<String, List<byte[]>> parts = new TreeMap<>();

  @Override
  public byte[] get(byte[] prefix, byte[] suffix) {
    return rows.get(name(prefix, suffix));
  }

  @Override
  public void put(byte[] prefix, byte[] suffix, byte[] value) {
    rows.put(name(prefix, suffix), value);
    parts.put(name(prefix, suffix), List.of(prefix, suffix));
  }

  @Override
  public void insert(byte[] prefix, byte[] suffix, byte[] value) {
    if (get(prefix, suffix) != null) {
      throw new IllegalStateException("The row to be inserted exists");
    }
    put(prefix, suffix, value);
  }

  @Override
  public void remove(byte[] prefix, byte[] suffix) {
    rows.remove(name(prefix, suffix));
    parts.remove(name(prefix, suffix));
  }

  @Override
  public Iterator<StateRow> scan(byte[] prefix) {
    List<StateRow> found = new ArrayList<>();
    String start = name(prefix, new byte[0]);
    rows.forEach(
        (name, value) -> {
          if (name.startsWith(start)) {
            found.add(new StateRow(parts.get(name).get(1), value));
          }
        });
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
  public void flush() {
    // Nothing is held back.
  }

  int size() {
    return rows.size();
  }

  private static String name(byte[] prefix, byte[] suffix) {
    return hex(prefix) + "|" + hex(suffix);
  }

  private static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte each : bytes) {
      text.append(String.format("%02x", each));
    }
    return text.toString();
  }
}
