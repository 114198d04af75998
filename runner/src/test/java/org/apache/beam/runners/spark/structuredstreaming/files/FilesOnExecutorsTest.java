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
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.transforms.Create;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Executors in processes of their own that die while they write, and while they give files their names. */
@Timeout(300)
class FilesOnExecutorsTest {
  @RegisterExtension static final TestSpark SPARK = LocalCluster.of(2);

  private static final List<String> LINES = FileCase.lines(400);
  private static final String VICTIM = "line 00390";

  @TempDir Path directory;

  private SparkStructuredStreamingPipelineResult start(
      FileCase.Engine engine, Consumer<Pipeline> build) {
    return new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            build,
            "--parallelism=2",
            "--streaming=" + (engine == FileCase.Engine.STREAMING),
            "--maxRestarts=3")
        .start();
  }

  /** Runs to the end, but kills the executor in which an element waits once it has come there. */
  private static void runAndKill(
      SparkStructuredStreamingPipelineResult result, WaitPoints points, String element) {
    try {
      Await.until(
          element,
          () -> points.isReached(element) || result.getState().isTerminal(),
          result::getState);
      assertThat(element, points.isReached(element));
      LocalCluster.kill(points.processOf(element));
      RestartHarness.finish(result);
    } finally {
      result.cancel();
    }
  }

  private static Stream<Arguments> waysAndEngines() {
    return Stream.of(
        Arguments.of(WaysToWrite.TEXT_IN_CHOSEN_SHARDS, FileCase.Engine.BATCH),
        Arguments.of(WaysToWrite.TEXT_IN_CHOSEN_SHARDS, FileCase.Engine.STREAMING),
        Arguments.of(WaysToWrite.DESTINATIONS_IN_CHOSEN_SHARDS, FileCase.Engine.BATCH));
  }

  @ParameterizedTest
  @MethodSource("waysAndEngines")
  void killedInTheMiddleOfAFile(WaysToWrite way, FileCase.Engine engine) {
    WaitPoints points = new WaitPoints(directory.resolve("points"));
    Path out = directory.resolve("out");
    runAndKill(
        start(
            engine,
            p ->
                p.apply(Create.of(LINES))
                    .apply(points.on("victim", Set.of(VICTIM)))
                    .apply(way.to(out, TextIO.sink()))),
        points,
        VICTIM);
    way.assertExact(out, LINES);
  }

  /** Files of other destinations and windows may have their names already: they get them again. */
  @ParameterizedTest
  @EnumSource
  void killedBetweenTheNamesOfFiles(FileCase.Engine engine) {
    WaitPoints points = new WaitPoints(directory.resolve("points"));
    Path out = directory.resolve("out");
    String victim = WindowedDestinations.name("d3", 100);
    runAndKill(
        start(
            engine,
            p ->
                WindowedDestinations.write(
                    p, LINES, out, points.gate(Set.of()), points.gate(Set.of(victim)))),
        points,
        victim);
    assertThat(
        FolderContents.of(out).linesBy(name -> name), is(WindowedDestinations.expected(LINES)));
  }
}
