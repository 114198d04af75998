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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.util.CoderUtils;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.beam.sdk.values.TimestampedValue;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules of the source: its splits, event times, watermarks, marks and pace. */
class ReplayedTextSourceTest {
  private static final Instant START = Instant.parse("2024-01-01T00:00:00Z");

  @TempDir Path directory;

  @Test
  void everySplittingReadsEveryLineOnceWithItsOwnEventTime() throws IOException {
    List<String> lines = writeFiles();
    List<TimestampedValue<String>> expected = timestamped(lines);
    for (int desired = 1; desired <= 12; desired++) {
      List<ReplayedTextSource> splits = source().split(desired, unpaced());
      assertThat(splits.size(), lessThanOrEqualTo(desired));
      List<TimestampedValue<String>> read = new ArrayList<>();
      for (ReplayedTextSource split : splits) {
        read.addAll(readAll(SerializableUtils.clone(split), null));
      }
      assertThat(desired + " splits", read, equalTo(expected));
    }
  }

  @Test
  void aReaderRestoredAfterAnyRecordGoesOnWithTheNextOne() throws IOException {
    List<TimestampedValue<String>> expected = timestamped(writeFiles());
    List<TimestampedValue<String>> read = new ArrayList<>();
    for (ReplayedTextSource split : source().split(3, unpaced())) {
      ReplayMark mark = null;
      boolean more = true;
      while (more) {
        try (UnboundedReader<String> reader = split.createReader(unpaced(), mark)) {
          more = reader.start();
          if (more) {
            read.add(TimestampedValue.of(reader.getCurrent(), reader.getCurrentTimestamp()));
          }
          mark = throughItsCoder(split, (ReplayMark) reader.getCheckpointMark());
        }
      }
    }
    assertThat(read, equalTo(expected));
  }

  @Test
  void theWatermarkIsTheNextLinesTimeAndBehindTheLastTheEndOfTime() throws IOException {
    writeFiles();
    ReplayedTextSource second = source().split(2, unpaced()).get(1);
    Instant first = timeOf(second.firstLine());
    try (UnboundedReader<String> reader = second.createReader(unpaced(), null)) {
      assertThat(reader.getWatermark(), is(first));
      Instant last = first;
      for (boolean more = reader.start(); more; more = reader.advance()) {
        last = reader.getCurrentTimestamp();
        if (reader.getSplitBacklogBytes() > 0) {
          assertThat(reader.getWatermark(), is(Instant.ofEpochMilli(last.getMillis() + 1000)));
        }
      }
      assertThat(last, is(timeOf(9)));
      assertThat(reader.getWatermark(), is(BoundedWindow.TIMESTAMP_MAX_VALUE));
    }
  }

  @Test
  void aLineIsReadWhenThePaceMakesItDueAndNotBefore() throws IOException {
    writeFiles();
    AtomicLong nanos = new AtomicLong(77);
    ReplayPace pace = new ReplayPace(2, 0, nanos::get);
    ReplayMark mark;
    try (ReplayedTextReader reader = new ReplayedTextReader(source(), null, pace)) {
      assertThat(reader.start(), is(false));
      nanos.addAndGet(1);
      assertThat(reader.advance(), is(true));
      assertThat(reader.advance(), is(false));
      nanos.addAndGet(700_000_000);
      assertThat(reader.advance(), is(true));
      assertThat(reader.advance(), is(false));
      nanos.addAndGet(700_000_000);
      assertThat(reader.advance(), is(true));
      assertThat(reader.advance(), is(false));
      mark = (ReplayMark) reader.getCheckpointMark();
    }
    ReplayPace goneOn = new ReplayPace(2, mark.replayed(), nanos::get);
    try (ReplayedTextReader reader = new ReplayedTextReader(source(), mark, goneOn)) {
      assertThat(reader.start(), is(false));
      nanos.addAndGet(200_000_000);
      assertThat(reader.advance(), is(true));
      assertThat(reader.getCurrentTimestamp(), is(timeOf(3)));
    }
  }

  @Test
  void aReplayThatWasKeptWaitingDoesNotCatchUp() throws IOException {
    writeFiles();
    AtomicLong nanos = new AtomicLong();
    ReplayPace pace = new ReplayPace(2, 0, nanos::get);
    try (ReplayedTextReader reader = new ReplayedTextReader(source(), null, pace)) {
      nanos.addAndGet(3_600_000_000_000L);
      assertThat(reader.start(), is(true));
      assertThat(reader.advance(), is(true));
      assertThat(reader.advance(), is(false));
    }
  }

  @Test
  void emptyFilesHaveNothingToReadAndAreAtTheEndOfTime() throws IOException {
    Files.writeString(directory.resolve("empty.txt"), "");
    List<ReplayedTextSource> splits = source().split(4, unpaced());
    assertThat(splits, hasSize(1));
    assertThat(readAll(splits.get(0), null), hasSize(0));
    try (UnboundedReader<String> reader = splits.get(0).createReader(unpaced(), null)) {
      assertThat(reader.getWatermark(), is(BoundedWindow.TIMESTAMP_MAX_VALUE));
    }
  }

  @Test
  void linesMayBeLongerThanAnyBufferAndHoldAnyCharacter() throws IOException {
    String line = "größer 語 \uD83D\uDE00 ".repeat(40_000);
    Files.writeString(directory.resolve("long.txt"), line + "\r\n\n" + line);
    List<String> read = readAll(source(), null).stream().map(TimestampedValue::getValue).toList();
    assertThat(read, contains(line, "", line));
  }

  @Test
  void anInputThatNamesNoFileIsRefusedByName() {
    String missing = directory.resolve("missing.txt").toString();
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> ReplayedTextSource.of(List.of(missing), START, 1000));
    assertThat(refused.getMessage(), containsString("--input=" + missing + " names no file"));
  }

  /** Below its directory are paths without number: one that looks through all never comes back. */
  @ParameterizedTest
  @ValueSource(strings = {"", "file:", "file://"})
  void aMissingInputIsNotLookedForBelowItsDirectory(String scheme) throws IOException {
    for (String loop : List.of("a", "b", "c")) {
      Files.createSymbolicLink(directory.resolve(loop), directory);
    }
    String missing = scheme + directory.resolve("missing.txt");
    IllegalArgumentException refused =
        assertTimeoutPreemptively(
            Duration.ofSeconds(30),
            () ->
                assertThrows(
                    IllegalArgumentException.class,
                    () -> ReplayedTextSource.of(List.of(missing), START, 1000)));
    assertThat(refused.getMessage(), containsString("--input=" + missing + " names no file"));
  }

  @Test
  void aFileWhoseNameLooksLikeAWildcardAndWildcardsOfEveryKindAreFound() throws IOException {
    for (String name : List.of("a.txt", "b[1].txt", "c.txt")) {
      Files.writeString(directory.resolve(name), "one\n");
    }
    for (String pattern : List.of("a.txt", "b[1].txt", "[c].txt", "{c,d}.txt", "?.txt", "c*")) {
      assertThat(
          pattern, TextFiles.find(List.of(directory.resolve(pattern).toString())).isEmpty(), is(false));
    }
  }

  @Test
  void aFileThatHasBecomeShorterFailsTheReadByName() throws IOException {
    Path file = directory.resolve("a.txt");
    Files.writeString(file, "one\ntwo\nthree\n");
    ReplayedTextSource source = source();
    Files.writeString(file, "one\n");
    EOFException failed = assertThrows(EOFException.class, () -> readAll(source, null));
    assertThat(failed.getMessage(), containsString(file + " ends at byte 4, but had 14"));
  }

  /** Ten lines in three files, one of them without a line end; an empty file among them. */
  private List<String> writeFiles() throws IOException {
    Files.writeString(directory.resolve("a.txt"), "a zero\na one\n\na three");
    Files.writeString(directory.resolve("b.txt"), "");
    Files.writeString(directory.resolve("c.txt"), "c four\r\nc five, which is longer\n");
    Files.writeString(directory.resolve("d.txt"), "d six\nd seven\nd eight\nd nine ü\n");
    return directoryLines();
  }

  private List<String> directoryLines() throws IOException {
    List<String> lines = new ArrayList<>();
    try (var files = Files.list(directory)) {
      for (Path file : files.sorted(Comparator.naturalOrder()).toList()) {
        lines.addAll(Files.readAllLines(file, StandardCharsets.UTF_8));
      }
    }
    return lines;
  }

  private ReplayedTextSource source() {
    return ReplayedTextSource.of(List.of(directory + "/*.txt"), START, 1000);
  }

  private static Instant timeOf(long line) {
    return Instant.ofEpochMilli(START.getMillis() + 1000 * line);
  }

  private static PipelineOptions unpaced() {
    return PipelineOptionsFactory.fromArgs("--linesPerSecond=0").as(ReplayOptions.class);
  }

  private static List<TimestampedValue<String>> timestamped(List<String> lines) {
    List<TimestampedValue<String>> timestamped = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      timestamped.add(TimestampedValue.of(lines.get(i), timeOf(i)));
    }
    return timestamped;
  }

  private static ReplayMark throughItsCoder(ReplayedTextSource source, ReplayMark mark)
      throws IOException {
    return CoderUtils.decodeFromByteArray(
        source.getCheckpointMarkCoder(),
        CoderUtils.encodeToByteArray(source.getCheckpointMarkCoder(), mark));
  }

  private static List<TimestampedValue<String>> readAll(ReplayedTextSource split, ReplayMark mark)
      throws IOException {
    List<TimestampedValue<String>> read = new ArrayList<>();
    try (UnboundedReader<String> reader = split.createReader(unpaced(), mark)) {
      for (boolean more = reader.start(); more; more = reader.advance()) {
        read.add(TimestampedValue.of(reader.getCurrent(), reader.getCurrentTimestamp()));
      }
    }
    return read;
  }
}
