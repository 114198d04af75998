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
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceDriver.Outcome;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** A split that is drained reads nothing, keeps its position and is at the end of time. */
class DrainedSplitTest {
  private static final long END_OF_TIME = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();

  @TempDir Path directory;
  private SourceTrace trace;
  private SourceDriver driver;

  @BeforeEach
  void start(TestInfo test) throws Exception {
    trace = SourceTrace.of(test.getDisplayName());
    driver =
        SourceDriver.start(
            directory,
            ScriptedSource.of(
                test.getDisplayName(), List.of(ScriptedSource.recordsToTheEnd("r", 10))),
            new ReadLimits(5, 0));
  }

  @AfterEach
  void leaveNoReader() {
    BeamReaderCache.invalidateAll();
    assertThat(trace.violations, empty());
    assertThat(trace.closed.get(), is(trace.opened.size()));
  }

  private void assertDrained(Outcome outcome) {
    assertThat(outcome.elements(), empty());
    assertThat(outcome.watermarkMillis(), is(END_OF_TIME));
  }

  /** The mark of an epoch is that of an earlier one, but for the watermark. */
  private void assertPositionOf(long earlier, long epoch) throws IOException {
    MarkRecord before = driver.checkpoint().readMark(0, earlier);
    MarkRecord drained = driver.checkpoint().readMark(0, epoch);
    assertThat(drained.kind(), is(before.kind()));
    assertThat(drained.coded(), is(before.coded()));
    assertThat(before.isFinished(), is(false));
    assertThat(drained.isFinished(), is(true));
    assertThat(drained.watermarkMillis(), is(END_OF_TIME));
  }

  @Test
  void itReadsNothingAndKeepsItsPosition() throws Exception {
    assertThat(driver.read(0, 0).elements(), contains("r0", "r1", "r2", "r3", "r4"));
    driver.commit(0);
    assertDrained(driver.drain(0, 1));
    assertPositionOf(1, 2);
    assertThat("what was read is finalized", trace.acknowledged, hasSize(1));
    assertThat("the reader is closed", trace.closed.get(), is(1));
    driver.commit(1);
    assertDrained(driver.drain(0, 2));
    driver.commit(2);
    assertDrained(driver.read(0, 3));
    assertPositionOf(1, 3);
  }

  @Test
  void anotherAttemptDrainsItToo() throws Exception {
    driver.readEpoch(0);
    driver.drain(0, 1);
    assertDrained(driver.drain(0, 1));
    assertPositionOf(1, 2);
  }

  @Test
  void noReaderIsOpenedForIt() throws Exception {
    driver.readEpoch(0);
    BeamReaderCache.invalidateAll();
    assertDrained(driver.drain(0, 1));
    assertThat(trace.opened, hasSize(1));
  }

  @Test
  void itIsNotReadAtAllIfItIsDrainedFromTheBeginning() throws Exception {
    assertDrained(driver.drain(0, 0));
    driver.commit(0);
    assertDrained(driver.drain(0, 1));
    assertThat(trace.opened, empty());
    assertThat(driver.checkpoint().readMark(0, 1).kind(), is(MarkRecord.Kind.FRESH));
  }

  @Test
  void oneThatHasFinishedBeforeStaysFinished() throws Exception {
    driver.readEpoch(0);
    driver.readEpoch(1);
    driver.readEpoch(2);
    assertThat(driver.checkpoint().readMark(0, 3).isFinished(), is(true));
    assertDrained(driver.drain(0, 3));
    driver.commit(3);
    assertDrained(driver.drain(0, 4));
  }
}
