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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.checkerframework.checker.nullness.qual.Nullable;

/** What became of one {@link ScriptedSource} in this JVM. A test uses a source name of its own. */
final class SourceTrace {
  /** A reader was created: for which split, and at which step of the script (null: no mark). */
  record Opened(int split, @Nullable Integer step) {}

  /** A live mark was finalized. */
  record Acknowledged(int split, int step, long records) {}

  private static final Map<String, SourceTrace> TRACES = new ConcurrentHashMap<>();

  final AtomicInteger splitCalls = new AtomicInteger();
  final AtomicInteger pulled = new AtomicInteger();
  final AtomicInteger closed = new AtomicInteger();
  final List<Opened> opened = new CopyOnWriteArrayList<>();
  final List<Acknowledged> acknowledged = new CopyOnWriteArrayList<>();
  final List<String> violations = new CopyOnWriteArrayList<>();
  volatile boolean failClose;
  volatile boolean failFinalize;
  private final Set<String> failures = ConcurrentHashMap.newKeySet();

  static SourceTrace of(String name) {
    return TRACES.computeIfAbsent(name, key -> new SourceTrace());
  }

  void opened(int split, @Nullable Integer step) {
    opened.add(new Opened(split, step));
  }

  void acknowledged(int split, int step, long records) {
    acknowledged.add(new Acknowledged(split, step, records));
  }

  boolean isFirst(int split, int step) {
    return failures.add(split + "/" + step);
  }

  void check(boolean holds, String violation) {
    if (!holds) {
      violations.add(violation);
      throw new IllegalStateException(violation);
    }
  }
}
