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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.joda.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A file of a checkpoint is not what it should be: the pipeline refuses to go on, by a message that
 * names where the file is and what to do, or it comes to exactly the right end. It never starts from
 * the beginning by itself.
 */
class CheckpointFaultsTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir static Path base;
  @TempDir static Path other;
  @TempDir Path directory;

  /** The files that a restart reads, by their paths within the checkpoint. */
  private enum Part {
    MARK("beam/sources/[^/]+/marks/[0-9]+-[0-9]+", "beam/sources/"),
    SPLITS("beam/sources/[^/]+/splits", "beam/sources/"),
    PLAN("beam/plan", "checkpoint"),
    OFFSETS("offsets/[0-9]+", "offsets"),
    COMMITS("commits/[0-9]+", "commits"),
    STATE("state/1/[0-9]+/[0-9]+\\.[a-z]+", "state/1");

    private final String files;
    private final String named;

    Part(String files, String named) {
      this.files = files;
      this.named = named;
    }
  }

  /** What a file is instead of what it should be. */
  private enum Damage {
    MISSING,
    TRUNCATED,
    EMPTY,
    OF_A_NEWER_VERSION,
    OF_ANOTHER_PIPELINE
  }

  /** A part of the checkpoint and what is wrong with it. */
  record Case(Part part, Damage damage) {
    String fault() {
      String damaged = damage.name().toLowerCase(Locale.ROOT).replace('_', ' ');
      return "checkpoint: " + part.name().toLowerCase(Locale.ROOT) + " " + damaged;
    }
  }

  static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (Part part : Part.values()) {
      for (Damage damage : Damage.values()) {
        cases.add(new Case(part, damage));
      }
    }
    return cases;
  }

  private static RecoveryPipeline pipeline(Path directory) {
    return new RecoveryPipeline("damaged-checkpoint", directory, Set.of(), Set.of());
  }

  private static RestartHarness harness(Path directory) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint"),
        pipeline(directory)::build,
        "--maxRecordsPerMicroBatch=8",
        "--maxRestarts=0");
  }

  /** Two pipelines that are stopped behind their second epochs. */
  @BeforeAll
  static void runTwoEpochs() {
    runTwoEpochs(harness(base));
    Recorder recorder = new Recorder(other.resolve("recorder"));
    Script script = Script.split();
    for (int second = 0; second < 20; second++) {
      script.at(second, "o" + second).watermark(second).epoch();
    }
    runTwoEpochs(
        new RestartHarness(
            SPARK,
            other.resolve("checkpoint"),
            p ->
                p.apply("another read", Script.read("another", script.end()))
                    .apply(Window.into(FixedWindows.of(Duration.standardSeconds(3))))
                    .apply(Count.perElement())
                    .apply(recorder.as("counts"))));
  }

  private static void runTwoEpochs(RestartHarness harness) {
    assertThat(
        harness.runUntil("two epochs", result -> result.progress().epoch() >= 1),
        is(State.CANCELLED));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void whatIsNotAsItShouldBeIsRefusedOrMadeUpFor(Case damaged) throws IOException {
    copy(base, directory);
    List<Path> files = files(directory.resolve("checkpoint"), damaged.part);
    assertThat(files, not(empty()));
    for (Path file : files) {
      damage(file, damaged);
    }
    String failure = failure(harness(directory));
    if (failure == null) {
      pipeline(directory).assertExact();
    } else {
      assertThat(failure, containsString(damaged.part.named));
      assertThat(failure, containsString(directory.toString()));
      assertThat(failure, containsString("--checkpointDir"));
      assertThat("results of a pipeline that has not gone on", results(directory), is(results(base)));
    }
    FaultTable.add(
        damaged.fault() + (failure == null ? ": made up for" : ": refused"),
        files.size(),
        failure == null ? 1 : 0,
        new Result(0, List.of(), List.of(), List.of()));
  }

  private static List<String> results(Path directory) {
    return new Recorder(directory.resolve("recorder")).values("sums");
  }

  /** Why the pipeline does not go on, wherever that turns out; null if it comes to its end. */
  private static String failure(RestartHarness harness) {
    try {
      RestartHarness.finish(harness.start());
      return null;
    } catch (PipelineExecutionException | IllegalStateException | IllegalArgumentException e) {
      return Stream.iterate((Throwable) e, cause -> cause != null, Throwable::getCause)
          .map(String::valueOf)
          .collect(Collectors.joining("\n"));
    }
  }

  private static List<Path> files(Path checkpoint, Part part) throws IOException {
    try (Stream<Path> walked = Files.walk(checkpoint)) {
      return walked
          .filter(Files::isRegularFile)
          .filter(file -> checkpoint.relativize(file).toString().matches(part.files))
          .sorted()
          .toList();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> walked = Files.walk(from)) {
      for (Path file : walked.filter(Files::isRegularFile).toList()) {
        Path copy = to.resolve(from.relativize(file));
        Files.createDirectories(copy.getParent());
        Files.copy(file, copy);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void damage(Path file, Case damaged) throws IOException {
    Files.deleteIfExists(file.resolveSibling("." + file.getFileName() + ".crc"));
    byte[] bytes = Files.readAllBytes(file);
    switch (damaged.damage) {
      case MISSING -> Files.delete(file);
      case TRUNCATED -> Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
      case EMPTY -> Files.write(file, new byte[0]);
      case OF_A_NEWER_VERSION -> Files.write(file, newer(bytes, damaged.part));
      default -> {
        List<Path> others = files(other.resolve("checkpoint"), damaged.part);
        Path same =
            others.stream()
                .filter(found -> found.getFileName().equals(file.getFileName()))
                .findAny()
                .orElse(others.get(0));
        Files.write(file, Files.readAllBytes(same));
      }
    }
  }

  /** The same file as a release to come may write it. */
  private static byte[] newer(byte[] bytes, Part part) {
    byte[] newer = bytes.clone();
    switch (part) {
      // The version is behind eight bytes of magic and one of kind.
      case MARK, SPLITS, PLAN -> newer[12] = 9;
      // "v1" is the first line.
      case OFFSETS, COMMITS -> newer[1] = '9';
      // Files of state have no version but the format of their compressed frames.
      default -> newer[0] = (byte) (newer[0] ^ 0x7f);
    }
    return newer;
  }
}
