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
package org.apache.beam.runners.spark.structuredstreaming.kafka.soak;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares what was produced with what was counted. Each record and window belongs to the last fault
 * before it was produced, or began.
 */
final class SoakResults {
  private static final String BEFORE = "none before";

  private final List<SoakProducer.Sent> sent;
  private final List<SoakFault> faults;
  private final Map<String, Long> expectedWindows = new HashMap<>();
  private final Map<String, Row> rows = new HashMap<>();

  /** What is known of the records and windows of a kind of fault. */
  private static final class Row {
    long records;
    long wrong;
    long lost;
    long doubled;
  }

  SoakResults(List<SoakProducer.Sent> sent, List<SoakFault> faults) {
    this.sent = sent;
    this.faults = List.copyOf(faults);
    for (SoakProducer.Sent record : sent) {
      expectedWindows.merge(windowOf(record), 1L, Long::sum);
    }
  }

  private static String windowOf(SoakProducer.Sent record) {
    long size = SoakPipeline.WINDOW_SIZE.getMillis();
    return SoakPipeline.windowKey(record.timestampMillis() / size * size, record.key());
  }

  /** Whether everything that was produced has been counted, be it too often. */
  boolean isComplete(Map<String, List<Long>> counts) {
    return sent.stream().allMatch(record -> counts.containsKey(SoakPipeline.ID + record.id()))
        && expectedWindows.entrySet().stream()
            .allMatch(window -> sum(counts, window.getKey()) >= window.getValue());
  }

  private static long sum(Map<String, List<Long>> counts, String key) {
    return counts.getOrDefault(key, List.of()).stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Compares.
   *
   * @return whether every record and window is exact
   */
  boolean check(Map<String, List<Long>> counts) {
    for (SoakProducer.Sent record : sent) {
      Row row = row(kindBefore(record.timestampMillis()));
      List<Long> found = counts.getOrDefault(SoakPipeline.ID + record.id(), List.of());
      row.records++;
      if (found.isEmpty()) {
        row.lost++;
      } else if (!found.equals(List.of(1L))) {
        row.doubled++;
      }
    }
    Set<String> windows = new TreeSet<>(expectedWindows.keySet());
    counts.keySet().stream().filter(key -> key.startsWith(SoakPipeline.WINDOW)).forEach(windows::add);
    for (String window : windows) {
      if (sum(counts, window) != expectedWindows.getOrDefault(window, 0L)) {
        row(kindBefore(startOf(window))).wrong++;
      }
    }
    long unknown =
        counts.keySet().stream().filter(key -> key.startsWith(SoakPipeline.ID)).count()
            - sent.stream().filter(each -> counts.containsKey(SoakPipeline.ID + each.id())).count();
    row(BEFORE).wrong += unknown;
    return rows.values().stream().allMatch(row -> row.wrong + row.lost + row.doubled == 0);
  }

  private Row row(String kind) {
    return rows.computeIfAbsent(kind, ignored -> new Row());
  }

  private static long startOf(String window) {
    String start = window.substring(SoakPipeline.WINDOW.length());
    return Long.parseLong(start.substring(0, start.indexOf('/')));
  }

  private String kindBefore(long millis) {
    String kind = BEFORE;
    for (SoakFault fault : faults) {
      if (fault.atMillis() <= millis) {
        kind = fault.kind().name();
      }
    }
    return kind;
  }

  /** The table of what {@link #check} has found. */
  String table() {
    List<String> kinds = new ArrayList<>(List.of(BEFORE));
    for (SoakFault.Kind kind : SoakFault.Kind.values()) {
      kinds.add(kind.name());
    }
    StringBuilder table =
        new StringBuilder(
            """
            | fault | times | slowest recovery, s | records | wrong windows | lost | doubled |
            |---|---|---|---|---|---|---|
            """);
    for (String kind : kinds) {
      List<SoakFault> ofKind =
          faults.stream().filter(fault -> fault.kind().name().equals(kind)).toList();
      long slowest = ofKind.stream().mapToLong(SoakFault::recoveredMillis).max().orElse(0);
      Row row = row(kind);
      table.append(
          "| %s | %d | %.1f | %d | %d | %d | %d |%n"
              .formatted(
                  kind.toLowerCase(Locale.ROOT),
                  ofKind.size(),
                  slowest / 1_000.0,
                  row.records,
                  row.wrong,
                  row.lost,
                  row.doubled));
    }
    return table.toString();
  }
}
