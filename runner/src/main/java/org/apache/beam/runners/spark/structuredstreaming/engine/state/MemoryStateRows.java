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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Rows in this JVM's memory alone, gone with the object: the state of a batch pipeline, of one key or
 * of what a task keeps until its end. Rows of a prefix come in the order in which they were first
 * written.
 */
public final class MemoryStateRows implements StateRows {
  private final Map<ByteKey, Map<ByteKey, byte[]>> rows = new HashMap<>();

  @Override
  public byte[] get(byte[] prefix, byte[] suffix) {
    Map<ByteKey, byte[]> ofPrefix = rows.get(new ByteKey(prefix));
    return ofPrefix == null ? null : ofPrefix.get(new ByteKey(suffix));
  }

  @Override
  public void put(byte[] prefix, byte[] suffix, byte[] value) {
    rows.computeIfAbsent(new ByteKey(prefix), key -> new LinkedHashMap<>())
        .put(new ByteKey(suffix), value);
  }

  @Override
  public void insert(byte[] prefix, byte[] suffix, byte[] value) {
    put(prefix, suffix, value);
  }

  @Override
  public void remove(byte[] prefix, byte[] suffix) {
    ByteKey key = new ByteKey(prefix);
    Map<ByteKey, byte[]> ofPrefix = rows.get(key);
    if (ofPrefix != null && ofPrefix.remove(new ByteKey(suffix)) != null && ofPrefix.isEmpty()) {
      rows.remove(key);
    }
  }

  @Override
  public Iterator<StateRow> scan(byte[] prefix) {
    List<StateRow> found = new ArrayList<>();
    Map<ByteKey, byte[]> ofPrefix = rows.get(new ByteKey(prefix));
    if (ofPrefix != null) {
      ofPrefix.forEach((suffix, value) -> found.add(new StateRow(suffix.bytes(), value)));
    }
    return found.iterator();
  }

  @Override
  public Iterator<StateRow> drain(byte[] prefix) {
    Iterator<StateRow> all = scan(prefix);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return all.hasNext();
      }

      @Override
      public StateRow next() {
        StateRow row = all.next();
        MemoryStateRows.this.remove(prefix, row.suffix());
        return row;
      }
    };
  }

  /** Does nothing: nothing lies behind. */
  @Override
  public void flush() {}
}
