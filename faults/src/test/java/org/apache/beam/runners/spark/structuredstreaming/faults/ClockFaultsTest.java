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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The clock goes back by an hour: the epochs so far are logged at an hour from now, as on a machine
 * whose clock is put right between two starts.
 */
class ClockFaultsTest {
  private static final int EXECUTORS = 2;
  private static final long HOUR_MILLIS = TimeUnit.HOURS.toMillis(1);

  /** Longer than an hour: record ids are remembered at the true time, before the log is put forward. */
  private static final long RETENTION_MILLIS = 3 * HOUR_MILLIS;

  private static final Pattern LOGGED = Pattern.compile("(?<=\"batchTimestampMs\":)[0-9]+");

  @TempDir Path directory;

  static List<List<SeededPipeline>> pipelines() {
    return Rotation.of(SeededPipeline.SPLITTABLE, SeededPipeline.DEDUPLICATION);
  }

  @ParameterizedTest
  @MethodSource("pipelines")
  void aClockThatGoesBackChangesNoResult(List<SeededPipeline> pipelines) throws Exception {
    Fault back =
        Fault.once("clock that goes back by an hour", FaultAction.KILL_DRIVER, "^file commits/5 before");
    FaultRun run =
        new FaultRun(directory, pipelines, 7, EXECUTORS, List.of(back))
            .with("--recordIdRetentionMillis=" + RETENTION_MILLIS);
    run.prepare();
    run.startOnce();
    assertThat(run.kills(), is(1L));
    assertThat(putForward(), greaterThan(1));
    run.goOn();
    assertThat(run.kills(), is(1L));
  }

  /** Moves the times of all logged epochs by an hour into the future; says how many there are. */
  private int putForward() throws IOException {
    Path offsets = directory.resolve(FaultProgram.CHECKPOINT).resolve("offsets");
    int epochs = 0;
    try (Stream<Path> files = Files.list(offsets)) {
      for (Path file : files.filter(file -> file.getFileName().toString().matches("[0-9]+")).toList()) {
        Matcher logged = LOGGED.matcher(Files.readString(file));
        String later =
            logged.replaceAll(
                found -> Long.toString(Long.parseLong(found.group()) + HOUR_MILLIS));
        Files.writeString(file, later);
        Files.deleteIfExists(offsets.resolve("." + file.getFileName() + ".crc"));
        epochs++;
      }
    }
    return epochs;
  }
}
