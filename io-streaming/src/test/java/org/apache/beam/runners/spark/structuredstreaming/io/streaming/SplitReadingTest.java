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
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.instanceOf;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Emit;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Endless;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.FailOnce;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.LinkFailure;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Pause;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Step;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Watermark;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceDriver.Outcome;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceTrace.Opened;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Tasks that read splits: what they get, what they leave, and what becomes of it when they fail. */
class SplitReadingTest {
  private static final ReadLimits UNLIMITED = new ReadLimits(0, 0);
  private static final long BEGINNING = BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis();

  @TempDir Path directory;
  private String name;
  private SourceTrace trace;

  @BeforeEach
  void nameTheSource(TestInfo test) {
    name = test.getDisplayName();
    trace = SourceTrace.of(name);
  }

  @AfterEach
  void leaveNoReader() {
    BeamReaderCache.invalidateAll();
    assertThat(trace.violations, empty());
    assertEquals(trace.opened.size(), trace.closed.get(), "readers closed");
  }

  private SourceDriver start(ReadLimits limits, List<List<Step>> scripts) throws Exception {
    return SourceDriver.start(directory, ScriptedSource.of(name, scripts), limits);
  }

  /** apache/beam#39971: a reader that moved without completing its batch is not reused. */
  @Test
  void aRetriedAttemptReadsAgainWhatTheFailedOneHadRead() throws Exception {
    SourceDriver driver =
        start(new ReadLimits(5, 0), List.of(ScriptedSource.recordsToTheEnd("r", 10)));
    driver.readEpoch(0);
    SplitReading failed = driver.open(0, 1);
    assertEquals("r5", failed.next().getValue());
    assertEquals("r6", failed.next().getValue());
    failed.close();

    assertThat(driver.read(0, 1).elements(), contains("r5", "r6", "r7", "r8", "r9"));
    assertThat(trace.opened, contains(new Opened(0, null), new Opened(0, 10)));
  }

  /** apache/beam#39971: the reader of a completed attempt whose task failed is ahead of the epoch. */
  @Test
  void anEpochThatIsReplayedAfterItsMarkWasWrittenReadsTheSameRecords() throws Exception {
    SourceDriver driver =
        start(new ReadLimits(5, 0), List.of(ScriptedSource.recordsToTheEnd("r", 10)));
    driver.readEpoch(0);
    Outcome first = driver.read(0, 1);

    assertThat(driver.read(0, 1).elements(), equalTo(first.elements()));
    assertThat(trace.acknowledged, hasSize(1));
  }

  /** apache/beam#39971: two attempts at once have a reader each. */
  @Test
  void anAttemptBesideAnotherOneHasAReaderOfItsOwn() throws Exception {
    SourceDriver driver =
        start(new ReadLimits(3, 0), List.of(ScriptedSource.recordsToTheEnd("r", 9)));
    driver.readEpoch(0);
    SplitReading zombie = driver.open(0, 1);
    assertEquals("r3", zombie.next().getValue());

    Outcome second = driver.read(0, 1);
    assertThat(second.elements(), contains("r3", "r4", "r5"));
    assertEquals("r4", zombie.next().getValue());
    assertEquals("r5", zombie.next().getValue());
    assertNull(zombie.next());
    IOException refused = assertThrows(IOException.class, zombie::complete);
    assertThat(refused.getMessage(), containsString("supersedes"));
    zombie.close();
    driver.commit(1);

    assertThat(driver.read(0, 2).elements(), contains("r6", "r7", "r8"));
  }

  /**
   * A task may be run again on another executor while the first one's reader stays in its cache. If
   * the two read differently, only the reader that wrote the durable mark stands where it says.
   */
  @Test
  void aReaderWhoseMarkAnotherAttemptReplacedIsNotReused() throws Exception {
    SourceDriver driver =
        start(new ReadLimits(3, 0), List.of(ScriptedSource.recordsToTheEnd("r", 9)));
    driver.readEpoch(0);
    MarkRecord written = driver.checkpoint().readMark(0, 1);
    driver
        .checkpoint()
        .writeMark(
            0,
            MarkRecord.coded(
                1, written.watermarkMillis(), false, markAtStep(2), nextWriter(written)));

    assertThat(driver.read(0, 1).elements(), contains("r1", "r2", "r3"));
    assertThat(trace.acknowledged, empty());
  }

  @Test
  void aMarkThatAnotherAttemptReplacedIsNotFinalizedAtTheEndEither() throws Exception {
    SourceDriver driver =
        start(new ReadLimits(3, 0), List.of(ScriptedSource.recordsToTheEnd("r", 9)));
    driver.readEpoch(0);
    MarkRecord written = driver.checkpoint().readMark(0, 1);
    driver
        .checkpoint()
        .writeMark(0, MarkRecord.coded(1, 0, false, markAtStep(2), nextWriter(written)));

    BeamReaderCache.retireAll(directory.toString());

    assertThat(trace.acknowledged, empty());
    assertEquals(1, trace.closed.get());
  }

  private static MarkRecord.Writer nextWriter(MarkRecord record) {
    return new MarkRecord.Writer(record.writer().application(), record.writer().attempt() + 1);
  }

  private static byte[] markAtStep(int step) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ScriptedSource.of("any", List.of())
        .getCheckpointMarkCoder()
        .encode(new ScriptedSource.Mark(step, 0, 0, null), bytes);
    return bytes.toByteArray();
  }

  /** apache/beam#30539: marks are finalized on the live object, once each, in order. */
  @Test
  void everyCommittedEpochIsAcknowledgedOnceInOrderByItsLiveMark() throws Exception {
    SourceDriver driver = start(new ReadLimits(10, 0), List.of(List.of(new Endless("e"))));
    for (long epoch = 0; epoch < 5; epoch++) {
      driver.readEpoch(epoch);
      assertEquals(epoch, trace.acknowledged.size());
    }

    assertThat(
        trace.acknowledged.stream().map(SourceTrace.Acknowledged::records).toList(),
        contains(10L, 20L, 30L, 40L));
    BeamReaderCache.retireAll(directory.toString());
    assertEquals(50L, trace.acknowledged.get(4).records());
  }

  @Test
  void aMarkThatFailsToBeFinalizedDoesNotFailTheEpoch() throws Exception {
    SourceDriver driver = start(new ReadLimits(1, 0), List.of(List.of(new Endless("e"))));
    trace.failFinalize = true;
    driver.readEpoch(0);

    assertThat(driver.readEpoch(1).get(0).elements(), contains("e1"));
    assertThat(trace.acknowledged, hasSize(1));
  }

  /** apache/beam#39971, apache/beam#395: marks go through their own coder. */
  @Test
  void aMarkThatIsNotSerializableIsRestoredThroughItsCoder() throws Exception {
    SourceDriver driver =
        start(new ReadLimits(20, 0), List.of(ScriptedSource.recordsToTheEnd("r", 40)));
    driver.readEpoch(0);
    BeamReaderCache.invalidateAll();

    List<String> second = driver.readEpoch(1).get(0).elements();

    assertThat(second, hasSize(20));
    assertEquals("r20", second.get(0));
    assertThat(trace.opened, contains(new Opened(0, null), new Opened(0, 40)));
  }

  @Test
  void aMarkCoderThatFailsFailsTheEpochByNameAndFinalizesNothing() throws Exception {
    ScriptedSource source =
        ScriptedSource.of(name, List.of(List.of(new Endless("e")))).withFailingMarkCoder();
    SourceDriver driver = SourceDriver.start(directory, source, new ReadLimits(2, 0));

    IOException failure = assertThrows(IOException.class, () -> driver.read(0, 0));

    assertThat(
        failure.getMessage(),
        allOf(
            containsString(SourceDriver.FULL_NAME),
            containsString("split 0"),
            containsString("epoch 0"),
            containsString("encoding the checkpoint mark")));
    assertThat(failure.getCause().toString(), containsString("the mark does not fit"));
    assertThat(trace.acknowledged, empty());
    assertFalse(driver.markFile(0, "1").exists());
  }

  @Test
  void aReaderThatFailsIsClosedAndItsFailureToCloseIsSuppressed() throws Exception {
    SourceDriver driver =
        start(UNLIMITED, List.of(List.of(new Emit("a", 1), new FailOnce("broken"))));
    trace.failClose = true;

    IOException failure = assertThrows(IOException.class, () -> driver.read(0, 0));

    assertThat(
        failure.getMessage(),
        allOf(containsString(SourceDriver.FULL_NAME), containsString("split 0, epoch 0")));
    assertThat(failure.getCause(), instanceOf(IOException.class));
    assertEquals("broken", failure.getCause().getMessage());
    assertEquals(
        "the connection was lost", failure.getCause().getSuppressed()[0].getMessage());
    assertEquals(1, trace.closed.get());
    trace.failClose = false;
  }

  /** apache/beam#32207: an error is reported as an exception is. */
  @Test
  void aReaderWhoseClassesAreMissingFailsTheTaskByName() throws Exception {
    SourceDriver driver = start(UNLIMITED, List.of(List.of(new LinkFailure("some/Client"))));

    IOException failure = assertThrows(IOException.class, () -> driver.read(0, 0));

    assertThat(failure.getMessage(), containsString(SourceDriver.FULL_NAME));
    assertThat(failure.getCause(), instanceOf(NoClassDefFoundError.class));
  }

  @Test
  void aReaderThatFailsToCloseWhenTheTaskFailsIsSuppressedByTheTasksFailure() throws Exception {
    SourceDriver driver = start(UNLIMITED, List.of(List.of(new Endless("e"))));
    SplitReading reading = driver.open(0, 0);
    reading.next();
    trace.failClose = true;
    IllegalStateException taskFailure = new IllegalStateException("the fused step failed");

    reading.taskFailed(taskFailure);
    reading.close();

    assertEquals("the connection was lost", taskFailure.getSuppressed()[0].getMessage());
    trace.failClose = false;
  }

  /** apache/beam#39971: the limit holds for all splits together, and no split starves. */
  @Test
  void theRecordLimitIsSharedAndEverySplitAdvances() throws Exception {
    List<Step> endless = List.of(new Endless("e"));
    SourceDriver driver =
        start(new ReadLimits(3, 0), List.of(endless, endless, endless, endless));
    int[] records = new int[4];
    for (long epoch = 0; epoch < 4; epoch++) {
      int sum = 0;
      List<Outcome> outcomes = driver.readEpoch(epoch);
      for (int split = 0; split < 4; split++) {
        records[split] += outcomes.get(split).elements().size();
        sum += outcomes.get(split).elements().size();
      }
      assertThat(sum, lessThanOrEqualTo(3));
    }

    assertThat(List.of(records[0], records[1], records[2], records[3]), everyItem(is(3)));
  }

  @Test
  void aSplitWithoutAShareKeepsWhatItHasEvenIfItNeverStarted() throws Exception {
    List<Step> endless = List.of(new Endless("e"));
    SourceDriver driver = start(new ReadLimits(1, 0), List.of(endless, endless));

    List<Outcome> first = driver.readEpoch(0);
    assertEquals(BEGINNING, first.get(1).watermarkMillis());
    assertEquals(MarkRecord.Kind.FRESH, driver.checkpoint().readMark(1, 1).kind());
    BeamReaderCache.invalidateAll();
    List<Outcome> second = driver.readEpoch(1);

    assertThat(second.get(0).elements(), empty());
    assertEquals(0, second.get(0).watermarkMillis());
    assertThat(second.get(1).elements(), contains("e0"));
    BeamReaderCache.invalidateAll();
    assertThat(driver.readEpoch(2).get(0).elements(), contains("e1"));
  }

  /** apache/beam#31085: a split without records reports the end of time from the first epoch on. */
  @Test
  void aSplitThatStartsAtItsEndIsFinishedAndNotReadAgain() throws Exception {
    SourceDriver driver =
        start(UNLIMITED, List.of(ScriptedSource.recordsToTheEnd("r", 0), List.of(new Pause(9))));

    List<Outcome> first = driver.readEpoch(0);
    assertEquals(ScriptedSource.END_OF_TIME, first.get(0).watermarkMillis());
    assertEquals(BEGINNING, first.get(1).watermarkMillis());
    assertThat(trace.acknowledged, empty());

    assertEquals(ScriptedSource.END_OF_TIME, driver.readEpoch(1).get(0).watermarkMillis());
    assertEquals(0, trace.acknowledged.get(0).split());
    int opened = trace.opened.size();
    assertTrue(driver.markFile(0, "finished").exists());
    assertFalse(driver.markFile(0, "2").exists());
    BeamReaderCache.invalidateAll();
    for (long epoch = 2; epoch < 6; epoch++) {
      assertEquals(ScriptedSource.END_OF_TIME, driver.read(0, epoch).watermarkMillis());
    }
    assertEquals(opened, trace.opened.size());
  }

  @Test
  void aFinishedSplitStaysFinishedWhenTheEpochBehindItIsReplayed() throws Exception {
    SourceDriver driver = start(UNLIMITED, List.of(ScriptedSource.recordsToTheEnd("r", 3)));
    driver.readEpoch(0);
    driver.readEpoch(1);
    assertThat(driver.read(0, 1).elements(), empty());

    assertThat(driver.read(0, 0).elements(), hasSize(3));
  }

  @Test
  void aSourceThatSplitIntoNothingIsAtTheEndOfTime() throws Exception {
    SourceDriver driver = start(UNLIMITED, List.of());

    Outcome outcome = driver.readEpoch(0).get(0);

    assertThat(outcome.elements(), empty());
    assertEquals(ScriptedSource.END_OF_TIME, outcome.watermarkMillis());
    assertEquals(ScriptedSource.END_OF_TIME, driver.readEpoch(1).get(0).watermarkMillis());
  }

  @Test
  void aReaderThatStartsWithoutARecordIsAdvancedLater() throws Exception {
    SourceDriver driver =
        start(UNLIMITED, List.of(List.of(new Pause(1), new Emit("late", 5), new Watermark(7))));

    Outcome first = driver.readEpoch(0).get(0);
    Outcome second = driver.readEpoch(1).get(0);

    assertThat(first.elements(), empty());
    assertThat(second.elements(), contains("late"));
    assertEquals(7, second.watermarkMillis());
    assertThat(trace.opened, hasSize(1));
  }

  @Test
  void timestampsOutsideOfBeamsRangeAreAnErrorByName() throws Exception {
    SourceDriver driver =
        start(UNLIMITED, List.of(List.of(new Emit("bad", ScriptedSource.END_OF_TIME + 1))));

    IOException failure = assertThrows(IOException.class, () -> driver.read(0, 0));

    assertThat(
        failure.getMessage(),
        allOf(containsString(SourceDriver.FULL_NAME), containsString("timestamp")));
  }

  @Test
  void watermarksBeyondBeamsRangeAreClamped() throws Exception {
    SourceDriver driver =
        start(
            UNLIMITED,
            List.of(List.of(new Emit("a", 1), new Watermark(Long.MAX_VALUE / 1000))));

    assertEquals(ScriptedSource.END_OF_TIME, driver.read(0, 0).watermarkMillis());
  }

  @Test
  void aStartWithoutItsDurableMarkIsAnErrorThatNamesThePlace() throws Exception {
    SourceDriver driver = start(UNLIMITED, List.of(List.of(new Endless("e"))));

    IOException failure = assertThrows(IOException.class, () -> driver.read(0, 3));

    assertThat(failure.getCause(), instanceOf(IllegalStateException.class));
    assertThat(
        failure.getMessage(),
        allOf(
            containsString("no durable mark"),
            containsString("epoch 3"),
            containsString(directory.toString())));
  }

  @Test
  void rowsMustAllBeTakenBeforeTheReadingIsCompleted() throws Exception {
    SourceDriver driver = start(new ReadLimits(2, 0), List.of(List.of(new Endless("e"))));
    SplitReading reading = driver.open(0, 0);
    reading.next();

    assertThrows(IllegalStateException.class, reading::complete);
    assertThrows(IllegalStateException.class, reading::watermarkMillis);
    reading.close();
  }

  @Test
  void theReadingIsBoundToItsThreadFromCreationToClose() throws Exception {
    SourceDriver driver = start(UNLIMITED, List.of(ScriptedSource.recordsToTheEnd("r", 3)));
    assertThrows(IllegalStateException.class, SplitReading::current);

    SplitReading reading = driver.open(0, 0);
    assertSame(reading, SplitReading.current());
    assertEquals(SourceDriver.FULL_NAME, reading.fullName());
    while (reading.next() != null) {
      assertThat(reading.rows(), greaterThan(0L));
    }
    reading.complete();
    assertEquals(0, reading.minEventTimeMillis());
    assertEquals(2000, reading.maxEventTimeMillis());
    assertEquals(1000, reading.averageEventTimeMillis());
    assertEquals(0, reading.backlogBytes());
    reading.close();

    assertThrows(IllegalStateException.class, SplitReading::current);
  }

  @Test
  void theDurableMarksDoNotGrowWithoutBound() throws Exception {
    SourceRegistration registration =
        SourceDriver.registration(
                directory,
                ScriptedSource.of(name, List.of(List.of(new Endless("e")))),
                new ReadLimits(1, 0))
            .minEpochsToRetain(2)
            .build();
    SourceDriver driver = SourceDriver.start(directory, registration);
    for (long epoch = 0; epoch < 10; epoch++) {
      driver.readEpoch(epoch);
    }

    List<String> marks = new ArrayList<>(List.of(driver.markFile(0, "1").getParentFile().list()));
    marks.removeIf(file -> file.endsWith(".crc"));
    assertThat(marks, containsInAnyOrder("0-8", "0-9", "0-10"));
  }
}
