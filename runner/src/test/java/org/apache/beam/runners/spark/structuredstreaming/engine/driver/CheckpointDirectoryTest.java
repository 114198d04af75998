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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.CheckpointDirectory.Claim;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.DurableFile;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanFingerprint;
import org.apache.hadoop.conf.Configuration;
import org.hamcrest.Matcher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What a start finds in a checkpoint directory, leaves there and refuses. */
class CheckpointDirectoryTest {
  private static final String ID = "b1a8b9c0-127a-4e30-a1e7-d97aeb72b4e9";
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[1]");

  private static final PlanFingerprint READ = plan();
  private static final PlanFingerprint ONE = plan("Sum\tlevels=1");
  private static final PlanFingerprint TWO = plan("Sum\tlevels=1", "Count\tlevels=1");

  @TempDir Path root;
  private UUID checkpointId;

  private static PlanFingerprint plan(String... stateful) {
    StringBuilder text =
        new StringBuilder("beam-plan-fingerprint 1\nkind=read\tname=Read\tlevels=0\n");
    for (String step : stateful) {
      text.append("kind=group-by-key\tname=").append(step).append('\n');
    }
    return PlanFingerprint.decode(text.toString());
  }

  private Claim claim(PlanFingerprint plan) {
    Claim claim =
        CheckpointDirectory.open(root.toString(), new Configuration())
            .claim(plan, 3, SPARK.session());
    checkpointId = checkpointId == null ? claim.checkpointId() : checkpointId;
    return claim;
  }

  /** Of a checkpoint whose state is divided by three and whose id is that of the first claim. */
  private Matcher<Claim> isClaim(long firstEpoch) {
    return is(new Claim(3, firstEpoch, checkpointId));
  }

  private String refusal(PlanFingerprint plan) {
    return assertThrows(IllegalStateException.class, () -> claim(plan)).getMessage();
  }

  /** What the logs and a source have when all epochs up to this one are committed. */
  private void commitUpTo(long last) throws IOException {
    Path marks = Files.createDirectories(root.resolve("beam/sources/0000000000000001/marks"));
    write(root.resolve("metadata"), "{\"id\":\"" + ID + "\"}");
    for (long epoch = 0; epoch <= last; epoch++) {
      write(offsets(epoch), offsetsEntry(epoch + 1));
      write(commits(epoch), "v1\n{\"nextBatchWatermarkMs\":0}");
      write(marks.resolve("0-" + (epoch + 1)), "mark");
    }
  }

  private Path offsets(long epoch) {
    return root.resolve("offsets").resolve(Long.toString(epoch));
  }

  private Path commits(long epoch) {
    return root.resolve("commits").resolve(Long.toString(epoch));
  }

  private static String offsetsEntry(Object offset) {
    return "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":7,\"conf\":{}}\n" + offset;
  }

  private static void write(Path file, String content) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
    withoutChecksum(file);
  }

  /** Hadoop's own checksum would tell of every change, but not every file system has one. */
  private static void withoutChecksum(Path file) throws IOException {
    Files.deleteIfExists(file.resolveSibling("." + file.getFileName() + ".crc"));
  }

  @Test
  void aNewDirectoryIsTakenAndTheSamePlanGoesOn() throws IOException {
    assertThat(claim(ONE), isClaim(0));
    assertThat(claim(ONE), isClaim(0));
    commitUpTo(4);
    CheckpointDirectory again = CheckpointDirectory.open(root.toString(), new Configuration());
    assertThat(again.claim(ONE, 99, SPARK.session()), isClaim(5));
  }

  @Test
  void everyFlippedAndEveryMissingByteOfThePlanIsAnErrorByName() throws IOException {
    claim(ONE);
    Path file = root.resolve("beam/plan");
    byte[] good = Files.readAllBytes(file);
    withoutChecksum(file);
    for (int at = 0; at < good.length; at++) {
      byte[] flipped = good.clone();
      flipped[at] = (byte) (flipped[at] ^ (1 << (at % 8)));
      for (byte[] bad : List.of(flipped, Arrays.copyOf(good, at))) {
        Files.write(file, bad);
        assertThat(
            refusal(ONE),
            allOf(containsString(file.toString()), containsString(DurableFile.WHAT_TO_DO)));
      }
    }
    Files.write(file, good);
    assertThat(claim(ONE), isClaim(0));
  }

  @Test
  void hadoopsOwnChecksumErrorSaysWhatToDoToo() throws IOException {
    claim(ONE);
    Path file = root.resolve("beam/plan");
    Path checksum = file.resolveSibling(".plan.crc");
    if (Files.exists(checksum)) {
      byte[] bytes = Files.readAllBytes(file);
      bytes[20] = (byte) (bytes[20] ^ 1);
      Files.write(file, bytes);
      assertThat(
          refusal(ONE),
          allOf(containsString(file.toString()), containsString(DurableFile.WHAT_TO_DO)));
    }
  }

  @Test
  void aParallelismThatCannotBeIsRefusedThoughItsChecksumFits() throws IOException {
    claim(ONE);
    for (int parallelism : new int[] {0, -1, Integer.MIN_VALUE}) {
      Files.write(
          root.resolve("beam/plan"),
          DurableFile.encode(
              DurableFile.Kind.PLAN,
              out -> {
                out.writeLong(checkpointId.getMostSignificantBits());
                out.writeLong(checkpointId.getLeastSignificantBits());
                out.writeInt(parallelism);
                out.writeInt(1);
                byte[] text = ONE.encode().getBytes(StandardCharsets.UTF_8);
                out.writeLong(0);
                out.writeInt(text.length);
                out.write(text);
              }));
      withoutChecksum(root.resolve("beam/plan"));
      assertThat(
          refusal(ONE),
          allOf(
              containsString("parallelism is " + parallelism),
              containsString(DurableFile.WHAT_TO_DO)));
    }
  }

  @Test
  void aStepAddedInTheSecondRunIsMissedInTheThird() throws IOException {
    claim(ONE);
    commitUpTo(1);
    assertThat(claim(TWO), isClaim(2));
    commitUpTo(2);
    assertThat(refusal(ONE), containsString("'Count' (group-by-key) is gone"));
    assertThat(claim(TWO), isClaim(3));
  }

  @Test
  void aStepAddedInARunThatCommittedNothingCanBeTakenBack() throws IOException {
    claim(ONE);
    commitUpTo(1);
    claim(TWO);
    assertThat(claim(ONE), isClaim(2));
    commitUpTo(2);
    assertThat(claim(ONE), isClaim(3));
    // Its state began behind what the run that was taken back had noted.
    claim(TWO);
    commitUpTo(3);
    assertThat(refusal(ONE), containsString("is gone"));
  }

  @Test
  void aPlanThatIsRefusedIsNotNoted() throws IOException {
    claim(ONE);
    commitUpTo(0);
    byte[] before = Files.readAllBytes(root.resolve("beam/plan"));
    assertThat(refusal(READ), containsString("'Sum' (group-by-key) is gone"));
    assertThat(refusal(plan("Sum\tlevels=2")), containsString("level"));
    assertThat(Files.readAllBytes(root.resolve("beam/plan")), is(before));
  }

  private void assertNamed(Path file, String what) {
    assertThat(
        refusal(ONE),
        allOf(
            containsString(file.toString()),
            containsString(what),
            containsString(DurableFile.WHAT_TO_DO)));
  }

  @Test
  void damagedFilesOfSparksAreNamed() throws IOException {
    claim(ONE);
    commitUpTo(3);
    for (Path file : List.of(root.resolve("metadata"), offsets(3), offsets(2), commits(3))) {
      String good = Files.readString(file);
      for (String bad : List.of("", good.substring(0, good.length() * 2 / 3), "nonsense", "v2" + good)) {
        write(file, bad);
        assertNamed(file, "is damaged");
      }
      write(file, good);
    }
    write(offsets(3), offsetsEntry(5));
    assertNamed(offsets(3), "the offset 5 where 4 is expected");
    write(offsets(3), offsetsEntry("-"));
    assertNamed(offsets(3), "the offset none where 4 is expected");
    write(offsets(3), offsetsEntry(4));
    assertThat(claim(ONE), isClaim(4));
  }

  @Test
  void anIdInTheMetadataThatIsNoUuidIsNamed() throws IOException {
    claim(ONE);
    commitUpTo(3);
    Path metadata = root.resolve("metadata");
    String good = Files.readString(metadata);
    for (String bad : List.of("", "1234", "x" + ID.substring(1), ID.substring(1))) {
      write(metadata, good.replace(ID, bad));
      assertNamed(metadata, "is damaged");
    }
    write(metadata, good);
    assertThat(claim(ONE), isClaim(4));
  }

  @Test
  void directoriesInTheirPlacesAreNamed() throws IOException {
    claim(ONE);
    commitUpTo(3);
    for (Path file :
        List.of(
            root.resolve("metadata"),
            root.resolve("beam/plan"),
            offsets(4),
            offsets(3),
            offsets(2),
            commits(4),
            commits(3))) {
      byte[] good = Files.exists(file) ? Files.readAllBytes(file) : null;
      Files.deleteIfExists(file);
      Files.createDirectory(file);
      assertNamed(file, "is damaged");
      Files.delete(file);
      if (good != null) {
        Files.write(file, good);
      }
    }
    assertThat(claim(ONE), isClaim(4));
  }

  @Test
  void aFileInTheLogsPlaceIsNamed() throws IOException {
    claim(ONE);
    Path commits = root.resolve("commits");
    Files.writeString(commits, "x");
    assertNamed(commits, "is damaged");
  }

  @Test
  void missingFilesOfSparksAreNamed() throws IOException {
    claim(ONE);
    commitUpTo(3);
    Files.delete(offsets(3));
    assertNamed(offsets(3), "is missing although");
    write(offsets(3), offsetsEntry(4));
    Files.delete(offsets(2));
    assertNamed(offsets(2), "is missing although");
    write(offsets(2), offsetsEntry(3));
    Files.delete(commits(3));
    assertThat("as after a failure in epoch 3", claim(ONE), isClaim(3));
    Files.delete(commits(2));
    assertNamed(commits(2), "is missing although");
  }

  @Test
  void aCheckpointWithoutItsOffsetsIsNotTakenForANewOne() throws IOException {
    claim(ONE);
    commitUpTo(3);
    deleteAllIn(root.resolve("offsets"));
    assertNamed(offsets(3), "is missing although");
    deleteAllIn(root.resolve("commits"));
    assertNamed(offsets(0), "sources have been read");
    deleteAllIn(root.resolve("beam/sources"));
    assertThat(claim(ONE), isClaim(0));
  }

  private static void deleteAllIn(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.delete(file);
      }
    }
  }
}
