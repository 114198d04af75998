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
import java.util.function.Consumer;
import org.checkerframework.checker.nullness.qual.Nullable;

/** What became of one {@link ScriptedSource} in this JVM. A test uses a source name of its own. */
public final class SourceTrace {
  /** A reader was created: for which split, and at which step of the script (null: no mark). */
  public record Opened(int split, @Nullable Integer step) {}

  /**
   * A live mark was finalized: after how many records of its reader, and which epoch's task had taken
   * it.
   */
  public record Acknowledged(int split, int step, long records, long epoch) {}

  private static final Map<String, SourceTrace> TRACES = new ConcurrentHashMap<>();

  /** Calls of split(). */
  public final AtomicInteger splitCalls = new AtomicInteger();

  /** Records given by all readers. */
  public final AtomicInteger pulled = new AtomicInteger();

  /** Readers closed. */
  public final AtomicInteger closed = new AtomicInteger();

  /** Readers created, in order. */
  public final List<Opened> opened = new CopyOnWriteArrayList<>();

  /** Live marks finalized, in order. */
  public final List<Acknowledged> acknowledged = new CopyOnWriteArrayList<>();

  /** Breaches of Beam's contract towards sources; a test demands that there are none. */
  public final List<String> violations = new CopyOnWriteArrayList<>();

  /** Readers fail to close. */
  public volatile boolean failClose;

  /** Marks fail to be finalized, after they are noted. */
  public volatile boolean failFinalize;

  /** Told of every acknowledgement, on the thread that finalizes. */
  public volatile Consumer<Acknowledged> onAcknowledged = acknowledgement -> {};

  private final Set<String> failures = ConcurrentHashMap.newKeySet();

  /** The trace of the source of this name. */
  public static SourceTrace of(String name) {
    return TRACES.computeIfAbsent(name, key -> new SourceTrace());
  }

  void opened(int split, @Nullable Integer step) {
    opened.add(new Opened(split, step));
  }

  void acknowledged(int split, int step, long records, long epoch) {
    Acknowledged acknowledgement = new Acknowledged(split, step, records, epoch);
    acknowledged.add(acknowledgement);
    onAcknowledged.accept(acknowledgement);
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
