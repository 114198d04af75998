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
package org.apache.beam.runners.spark.structuredstreaming.files;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.ForkedProgram;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The whole JVM of a batch is killed, executors included, while it writes and while it gives files their
 * names. A file that has its name is whole at any time; the same program, started again, makes the output
 * what it would have been.
 */
@Timeout(300)
class FilesDriverKilledTest {
  private static final Map<String, List<String>> EXPECTED =
      WindowedDestinations.expected(FilesProgram.LINES);

  @TempDir Path directory;

  @Test
  void theNextRunWritesWhatTheKilledOnesDidNot() throws IOException, InterruptedException {
    Path out = directory.resolve("out");
    Path folderOfPoints = directory.resolve("points");
    WaitPoints points = new WaitPoints(folderOfPoints);
    ForkedProgram program = new ForkedProgram(FilesProgram.class, "1g", 4);
    List<String> arguments = List.of(out.toString(), folderOfPoints.toString());
    for (String victim : List.of(FilesProgram.LINE, FilesProgram.NAME)) {
      try (ForkedProgram.Running running =
          program.start(directory.resolve("killed.log"), arguments)) {
        Await.until(
            victim, () -> points.isReached(victim) || !running.isAlive(), running::printed);
        assertThat(running.printed(), points.isReached(victim));
        running.kill();
      }
      assertWhole(out);
    }
    // What was killed had begun to write.
    assertThat(
        FolderContents.of(directory.resolve("temporary")).names(), is(not(empty())));
    program.run(directory.resolve("last.log"), arguments);
    assertThat(FolderContents.of(out).linesBy(name -> name), is(EXPECTED));
  }

  private static void assertWhole(Path out) {
    FolderContents.of(out)
        .linesBy(name -> name)
        .forEach((name, lines) -> assertThat(name, lines, is(EXPECTED.get(name))));
  }
}
