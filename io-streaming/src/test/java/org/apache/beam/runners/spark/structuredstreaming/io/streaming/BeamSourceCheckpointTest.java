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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.nullValue;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.MarkRecord.Kind;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.MarkRecord.Writer;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.util.SerializableConfiguration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** The durable files of a source: what is written comes back, and nothing else is believed. */
class BeamSourceCheckpointTest {
  private static final Writer WRITER = new Writer("application", 7);
  private static final byte[] MARK = {1, 2, 3};

  @TempDir Path directory;
  private BeamSourceCheckpoint checkpoint;
  private Path splits;
  private Path mark;

  @BeforeEach
  void writeFiles() throws IOException {
    checkpoint = checkpoint(1, "Read");
    checkpoint.writeSplits(List.of(new byte[] {9}, new byte[0], new byte[] {8, 7}));
    checkpoint.writeMark(2, MarkRecord.coded(5, 1234, false, MARK, WRITER));
    splits = directory.resolve("beam/sources/0000000000000001/splits");
    mark = directory.resolve("beam/sources/0000000000000001/marks/2-5");
  }

  private BeamSourceCheckpoint checkpoint(long stableId, String fullName) {
    return new BeamSourceCheckpoint(
        directory.toString(),
        stableId,
        fullName,
        new SerializableConfiguration(new Configuration(false)));
  }

  @Test
  void splitsComeBackAsTheyWereWritten() throws IOException {
    List<byte[]> read = checkpoint(1, "Read").readSplits();

    assertEquals(3, read.size());
    assertArrayEquals(new byte[] {9}, read.get(0));
    assertArrayEquals(new byte[0], read.get(1));
    assertArrayEquals(new byte[] {8, 7}, read.get(2));
  }

  @Test
  void splitsThatWereNeverWrittenAreAbsent() throws IOException {
    assertThat(checkpoint(2, "Other").readSplits(), nullValue());
  }

  @Test
  void aMarkComesBackAsItWasWritten() throws IOException {
    MarkRecord read = checkpoint(1, "Read").readMark(2, 5);

    assertNotNull(read);
    assertEquals(5, read.epoch());
    assertEquals(1234, read.watermarkMillis());
    assertEquals(Kind.CODED, read.kind());
    assertArrayEquals(MARK, read.coded());
    assertEquals(WRITER, read.writer());
    assertThat(read.isFinished(), equalTo(false));
  }

  @Test
  void aMarkOfZeroBytesIsNotTakenForAFreshStartNorForNone() throws IOException {
    checkpoint.writeMark(0, MarkRecord.coded(1, 0, false, new byte[0], WRITER));
    checkpoint.writeMark(1, MarkRecord.fresh(1, 0, WRITER));
    checkpoint.writeMark(2, MarkRecord.notStored(1, 0, false, WRITER));

    assertEquals(Kind.CODED, checkpoint.readMark(0, 1).kind());
    assertEquals(Kind.FRESH, checkpoint.readMark(1, 1).kind());
    assertEquals(Kind.NOT_STORED, checkpoint.readMark(2, 1).kind());
  }

  @Test
  void aMarkThatWasNeverWrittenIsAbsent() throws IOException {
    assertThat(checkpoint.readMark(2, 6), nullValue());
    assertThat(checkpoint.readMark(1, 5), nullValue());
  }

  @Test
  void anAttemptThatIsRunAgainOverwrites() throws IOException {
    checkpoint.writeMark(
        2, MarkRecord.coded(5, 99, false, new byte[] {4}, new Writer("application", 8)));

    assertArrayEquals(new byte[] {4}, checkpoint.readMark(2, 5).coded());
  }

  @Test
  void anAttemptThatAnotherOneSupersededIsRefused() throws IOException {
    MarkRecord late = MarkRecord.coded(5, 99, false, new byte[] {4}, new Writer("application", 6));

    IOException failure =
        assertThrows(IOException.class, () -> checkpoint.writeMark(2, late));

    assertThat(
        failure.getMessage(), allOf(containsString(mark.toString()), containsString("attempt 7")));
    assertArrayEquals(MARK, checkpoint.readMark(2, 5).coded());
  }

  @Test
  void anotherApplicationOverwritesWhateverItsAttemptIds() throws IOException {
    checkpoint.writeMark(
        2, MarkRecord.coded(5, 99, false, new byte[] {4}, new Writer("restarted", 1)));

    assertArrayEquals(new byte[] {4}, checkpoint.readMark(2, 5).coded());
  }

  @Test
  void aFinishedRecordStandsForAllLaterEpochsButNoneBefore() throws IOException {
    checkpoint.writeFinished(0, MarkRecord.coded(7, 99, true, MARK, WRITER));

    assertThat(checkpoint.readMark(0, 6), nullValue());
    assertEquals(7, checkpoint.readMark(0, 7).epoch());
    assertTrue(checkpoint.readMark(0, 1_000).isFinished());
  }

  @Test
  void theMarkOfAnEpochCountsMoreThanTheFinishedRecord() throws IOException {
    checkpoint.writeFinished(2, MarkRecord.coded(4, 99, true, MARK, WRITER));

    assertThat(checkpoint.readMark(2, 5).isFinished(), equalTo(false));
  }

  @Test
  void marksBeforeAnEpochArePurgedAndOthersKept() throws IOException {
    for (long epoch = 1; epoch < 12; epoch++) {
      checkpoint.writeMark(0, MarkRecord.coded(epoch, 0, false, MARK, WRITER));
    }
    checkpoint.writeFinished(1, MarkRecord.coded(1, 0, true, MARK, WRITER));

    checkpoint.purgeMarksBefore(9);
    checkpoint.deleteMark(0, 9);
    checkpoint.deleteMark(0, 9);

    assertThat(checkpoint.readMark(0, 8), nullValue());
    assertThat(checkpoint.readMark(0, 9), nullValue());
    assertNotNull(checkpoint.readMark(0, 10));
    assertNotNull(checkpoint.readMark(1, 1));
  }

  @Test
  void damagedFilesAreErrorsThatNameThePath() throws IOException {
    byte[] good = Files.readAllBytes(mark);
    byte[] flipped = good.clone();
    flipped[good.length / 2] ^= 1;
    byte[] newer = good.clone();
    newer[12] = 99;
    byte[] longer = Arrays.copyOf(good, good.length + 1);

    assertMarkError("truncated: 0 bytes", new byte[0]);
    assertMarkError("truncated or has bytes too many", Arrays.copyOf(good, good.length - 1));
    assertMarkError("truncated or has bytes too many", longer);
    assertMarkError("checksum", flipped);
    assertMarkError("version is 99", newer);
    assertMarkError(
        "no durable file of a Beam pipeline",
        "a text that somebody put here by mistake".getBytes(StandardCharsets.UTF_8));
    assertMarkError("kind 1 and not 2", Files.readAllBytes(splits));
  }

  private void assertMarkError(String reason, byte[] content) throws IOException {
    Files.write(mark, content);
    assertError(reason, mark, () -> checkpoint.readMark(2, 5));
  }

  private static void assertError(String reason, Path path, Executable read) {
    IOException failure = assertThrows(IOException.class, read);
    assertThat(
        failure.getMessage(), allOf(containsString(reason), containsString(path.toString())));
  }

  @Test
  void aMarkInAnotherPlaceThanItsOwnIsAnError() throws IOException {
    Path otherSplit = mark.resolveSibling("1-5");
    Path otherEpoch = mark.resolveSibling("2-6");
    Files.copy(mark, otherSplit);
    Files.copy(mark, otherEpoch);

    assertError("split 2 of the source", otherSplit, () -> checkpoint.readMark(1, 5));
    assertError("at epoch 5", otherEpoch, () -> checkpoint.readMark(2, 6));
  }

  @Test
  void splitsOfAnotherTransformAreAnError() {
    assertError(
        "belongs to the transform 'Read'",
        splits,
        () -> checkpoint(1, "Renamed").readSplits());
  }

  @Test
  void truncatedSplitsAreAnError() throws IOException {
    byte[] good = Files.readAllBytes(splits);
    Files.write(splits, Arrays.copyOf(good, good.length - 3));

    assertError("truncated", splits, () -> checkpoint.readSplits());
  }

  @Test
  void aMarkThatCannotBeWrittenIsAnErrorAndNotSilence() throws IOException {
    Path blocked = mark.resolveSibling("4-1");
    Files.createDirectories(blocked.resolve("inside"));

    IOException failure =
        assertThrows(
            IOException.class,
            () -> checkpoint.writeMark(4, MarkRecord.fresh(1, 0, WRITER)));

    assertThat(failure.getMessage(), containsString(blocked.toString()));
  }

  @Test
  void theLatestCommittedEpochIsTheLargestNumberInTheCommitLog() throws IOException {
    assertEquals(-1, checkpoint.readSparkCommittedEpoch());
    Path commits = Files.createDirectories(directory.resolve("commits"));
    assertEquals(-1, checkpoint.readSparkCommittedEpoch());

    for (String name :
        List.of("0", "9", "10", ".11.crc", ".11.7c9e6679-7425-40de.tmp", "12.tmp", "x13")) {
      Files.writeString(commits.resolve(name), "v1\n{}");
    }

    assertEquals(10, checkpoint.readSparkCommittedEpoch());
  }
}
