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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the suite has seen, by fault; written to {@code target/faults.md} with every run, and printed at
 * the end by {@link FaultTablePrinter}.
 */
final class FaultTable {
  private static final Map<String, Row> ROWS = new LinkedHashMap<>();

  private FaultTable() {}

  private record Row(long happened, int runs, int wrong, int lost, int doubled, int recovery) {
    Row plus(Row more) {
      return new Row(
          happened + more.happened,
          runs + more.runs,
          wrong + more.wrong,
          lost + more.lost,
          doubled + more.doubled,
          Math.max(recovery, more.recovery));
    }
  }

  /**
   * Adds a run in which a fault was injected.
   *
   * @param happened how often
   * @param recovery epochs that were run from the fault until the next commit
   */
  static synchronized void add(String fault, long happened, int recovery, Result result)
      throws IOException {
    ROWS.merge(
        fault,
        new Row(
            happened,
            1,
            result.wrong().size(),
            result.lost().size(),
            result.doubled().size(),
            recovery),
        Row::plus);
    Files.write(Path.of("target", "faults.md"), lines());
  }

  static synchronized List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "| fault | times injected | runs | wrong results | lost | double counted in state"
            + " | recovery, epochs |");
    lines.add("|---|---|---|---|---|---|---|");
    ROWS.forEach(
        (fault, row) ->
            lines.add(
                String.format(
                    "| %s | %d | %d | %d | %d | %d | %d |",
                    fault, row.happened, row.runs, row.wrong, row.lost, row.doubled, row.recovery)));
    return lines;
  }
}
