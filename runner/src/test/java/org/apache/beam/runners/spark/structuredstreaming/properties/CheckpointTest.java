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
package org.apache.beam.runners.spark.structuredstreaming.properties;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.PipelineResult.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a pipeline needs to go on is all in its checkpoint directory, and a file there that is not what
 * it should be is an error that names it, and no more than that: put right, the pipeline goes on.
 */
class CheckpointTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir Path directory;

  private RestartHarness harness(RecoveryPipeline pipeline) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint"),
        pipeline::build,
        "--maxRecordsPerMicroBatch=8",
        "--maxRestarts=0");
  }

  private static void runTwoEpochs(RestartHarness harness) {
    assertThat(
        harness.runUntil("two epochs", result -> result.progress().epoch() >= 1),
        is(State.CANCELLED));
  }

  private static List<Path> files(Path root) throws IOException {
    try (Stream<Path> walked = Files.walk(root)) {
      return walked.filter(Files::isRegularFile).sorted().toList();
    }
  }

  @Test
  void aPipelineGoesOnFromACopyOfItsCheckpointDirectoryAlone() throws IOException {
    RecoveryPipeline pipeline = new RecoveryPipeline("moved", directory, Set.of(), Set.of());
    RestartHarness harness = harness(pipeline);
    runTwoEpochs(harness);

    Set<String> content = new TreeSet<>();
    try (Stream<Path> listed = Files.list(harness.checkpoint())) {
      listed.map(path -> path.getFileName().toString()).filter(n -> !n.startsWith(".")).forEach(content::add);
    }
    content.remove("sources");
    assertThat(content, is(Set.of("beam", "commits", "metadata", "offsets", "state")));

    Path moved = directory.resolve("moved");
    Files.move(harness.checkpoint(), moved);
    harness.moveTo(moved);
    harness.runToTheEnd();
    pipeline.assertExact();
    assertThat(Files.exists(directory.resolve("checkpoint")), is(false));
  }

  /** Ways for a file to be not what it should be. */
  private enum Damage {
    TRUNCATED(bytes -> Arrays.copyOf(bytes, bytes.length / 2)),
    FOREIGN(bytes -> "a file of somebody else's\nwith some lines\n".getBytes(StandardCharsets.UTF_8)),
    EMPTY(bytes -> new byte[0]);

    @SuppressWarnings("ImmutableEnumChecker") // the functions above have no state
    private final UnaryOperator<byte[]> change;

    Damage(UnaryOperator<byte[]> change) {
      this.change = change;
    }
  }

  /** Changes files, and takes away the checksums that Hadoop's local file system keeps beside them. */
  private static Map<Path, byte[]> change(List<Path> files, UnaryOperator<byte[]> change)
      throws IOException {
    Map<Path, byte[]> before = new TreeMap<>();
    for (Path file : files) {
      Path checksum = file.resolveSibling("." + file.getFileName() + ".crc");
      if (Files.exists(checksum)) {
        before.put(checksum, Files.readAllBytes(checksum));
        Files.delete(checksum);
      }
      byte[] bytes = Files.readAllBytes(file);
      before.put(file, bytes);
      Files.write(file, change.apply(bytes));
    }
    return before;
  }

  private static void restore(Map<Path, byte[]> files) throws IOException {
    for (Map.Entry<Path, byte[]> file : files.entrySet()) {
      Files.write(file.getKey(), file.getValue());
    }
  }

  /** Why the pipeline does not go on, wherever that turns out. */
  private static String failureText(RestartHarness harness) {
    Throwable failure;
    try {
      failure = harness.runToFailure();
    } catch (RuntimeException e) {
      failure = e;
    }
    return Stream.iterate(failure, cause -> cause != null, Throwable::getCause)
        .map(String::valueOf)
        .collect(Collectors.joining("\n"));
  }

  private void everyDamageIsNamedAndMendable(String name, String fileName) throws IOException {
    RecoveryPipeline pipeline = new RecoveryPipeline(name, directory, Set.of(), Set.of());
    RestartHarness harness = harness(pipeline);
    runTwoEpochs(harness);
    List<Path> files =
        files(harness.checkpoint().resolve("beam")).stream()
            .filter(file -> file.getFileName().toString().matches(fileName))
            .toList();
    assertThat(files, not(empty()));
    for (Damage damage : Damage.values()) {
      Map<Path, byte[]> before = change(files, damage.change);
      String failure = failureText(harness);
      assertThat(damage + ": " + failure, files.stream().anyMatch(f -> failure.contains(f.toString())));
      restore(before);
    }
    harness.runToTheEnd();
    pipeline.assertExact();
  }

  @Test
  void aDamagedPlanIsNamedAndWhenPutRightThePipelineGoesOn() throws IOException {
    everyDamageIsNamedAndMendable("damaged-plan", "plan");
  }

  @Test
  void aDamagedListOfSplitsIsNamedAndWhenPutRightThePipelineGoesOn() throws IOException {
    everyDamageIsNamedAndMendable("damaged-splits", "splits");
  }

  @Test
  void aDamagedMarkIsNamedAndWhenPutRightThePipelineGoesOn() throws IOException {
    everyDamageIsNamedAndMendable("damaged-marks", "1-[0-9]+");
  }

  /** Whoever reads the message finds the path, and what to do about it. */
  private void everyDamageOfSparksIsNamedAndMendable(String name, String part, String fileName)
      throws IOException {
    RecoveryPipeline pipeline = new RecoveryPipeline(name, directory, Set.of(), Set.of());
    RestartHarness harness = harness(pipeline);
    runTwoEpochs(harness);
    Path parent = harness.checkpoint().resolve(part);
    List<Path> files =
        files(parent).stream()
            .filter(file -> parent.relativize(file).toString().matches(fileName))
            .toList();
    assertThat(files, not(empty()));
    for (Damage damage : Damage.values()) {
      Map<Path, byte[]> before = change(files, damage.change);
      String failure = failureText(harness);
      assertThat(failure, containsString(parent.toString()));
      assertThat(failure, containsString("another --checkpointDir"));
      restore(before);
    }
    harness.runToTheEnd();
    pipeline.assertExact();
  }

  @Test
  void damagedLogsOfSparksAreNamed() throws IOException {
    everyDamageOfSparksIsNamedAndMendable("damaged-offsets", "offsets", "[0-9]+");
  }

  @Test
  void damagedStateIsNamedByLevelPartitionVersionAndDirectory() throws IOException {
    everyDamageOfSparksIsNamedAndMendable(
        "damaged-state", "state/1", "[0-9]+/[0-9]+\\.(changelog|delta|zip|snapshot)");
  }

  @Test
  void aDamagedSchemaOfTheStateIsNamed() throws IOException {
    everyDamageOfSparksIsNamedAndMendable("damaged-schema", "state/1", ".*_metadata/schema");
  }

  @Test
  void withoutItsOffsetsACheckpointIsNotReadFromTheBeginning() throws IOException {
    RecoveryPipeline pipeline = new RecoveryPipeline("no-offsets", directory, Set.of(), Set.of());
    RestartHarness harness = harness(pipeline);
    runTwoEpochs(harness);
    List<Path> offsets = files(harness.checkpoint().resolve("offsets"));
    Map<Path, byte[]> before = change(offsets, bytes -> bytes);
    for (Path file : offsets) {
      Files.deleteIfExists(file);
    }
    List<Path> all = files(harness.checkpoint());
    assertThat(failureText(harness), containsString("offsets/"));
    assertThat(files(harness.checkpoint()), is(all));
    restore(before);
    harness.runToTheEnd();
    pipeline.assertExact();
  }

  /** Newer versions are told from damage: whoever reads the message is to use a newer runner. */
  @Test
  void filesOfANewerVersionAreRefused() throws IOException {
    RecoveryPipeline pipeline = new RecoveryPipeline("newer", directory, Set.of(), Set.of());
    RestartHarness harness = harness(pipeline);
    runTwoEpochs(harness);
    List<Path> own = files(harness.checkpoint().resolve("beam"));
    Path plan = own.stream().filter(file -> file.endsWith("plan")).findAny().orElseThrow();
    Path splits = own.stream().filter(file -> file.endsWith("splits")).findAny().orElseThrow();

    for (Path file : List.of(plan, splits)) {
      // The version is behind eight bytes of magic and one of kind.
      Map<Path, byte[]> before =
          change(
              List.of(file),
              bytes -> {
                byte[] newer = bytes.clone();
                newer[12] = 9;
                return newer;
              });
      String failure = failureText(harness);
      assertThat(failure, containsString(file.toString()));
      assertThat(failure, containsString("version is 9"));
      restore(before);
    }
    harness.runToTheEnd();
    pipeline.assertExact();
  }

  @Test
  void aMarkThatIsMissingIsNotTakenForTheBeginning() throws IOException {
    RecoveryPipeline pipeline = new RecoveryPipeline("missing", directory, Set.of(), Set.of());
    RestartHarness harness = harness(pipeline);
    runTwoEpochs(harness);
    List<Path> marks =
        files(harness.checkpoint().resolve("beam")).stream()
            .filter(file -> file.getFileName().toString().matches("0-[0-9]+"))
            .toList();
    Map<Path, byte[]> before = change(marks, bytes -> bytes);
    for (Path mark : marks) {
      Files.delete(mark);
    }
    assertThat(failureText(harness), containsString("mark"));
    restore(before);
    harness.runToTheEnd();
    pipeline.assertExact();
  }
}
