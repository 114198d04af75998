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

import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.FAIL;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.HANG;
import static org.apache.beam.runners.spark.structuredstreaming.faults.FaultAction.TOLD;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a user's code does: it throws once or for ever, hangs, or does not do again what it did. */
class UserCodeFaultsTest {
  private static final int EXECUTORS = 2;
  private static final String ALWAYS = "DoFn that fails always, until it is mended";

  /** Four attempts at a task, in each of three starts of the query. */
  private static final int ALL_ATTEMPTS = 12;

  private static final List<Fault> FAULTS =
      List.of(
          Fault.once("DoFn that fails once", FAIL, "^element .* epoch=1 partition=0 before"),
          Fault.once("DoFn behind a shuffle that fails once", FAIL, "^element .* behind"),
          Fault.once("reader that throws once", FAIL, "^read .* epoch=3 .*record=2"),
          Fault.once(
              "reader that hangs, until the pipeline is cancelled", HANG, "^read .* epoch=4 .*record=2"),
          new Fault(ALWAYS, ALL_ATTEMPTS, FAIL, "^element .* epoch=6 partition=0 before"),
          Fault.once(
              "reader that returns to an older position", TOLD, "^create DEDUPLICATION .* older"));

  @TempDir Path directory;

  static List<List<SeededPipeline>> pipelines() {
    return Rotation.withDeduplication(SeededPipeline.COUNTS, SeededPipeline.SESSIONS);
  }

  @ParameterizedTest
  @MethodSource("pipelines")
  void codeThatFailsChangesNoResult(List<SeededPipeline> pipelines) throws Exception {
    FaultRun run =
        new FaultRun(directory, pipelines, 3, EXECUTORS, FAULTS)
            .with("--cancelTimeoutMillis=500")
            .toTheEnd();
    assertThat(
        run.ends(),
        is(List.of(FaultProgram.CANCELLED, FaultProgram.FAILED, FaultProgram.DONE)));
    assertThat(run.failures().get(0), containsString("the fault '" + ALWAYS + "'"));
  }
}
