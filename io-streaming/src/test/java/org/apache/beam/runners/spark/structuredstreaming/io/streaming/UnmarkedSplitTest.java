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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.hasSize;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Endless;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceDriver.Outcome;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceTrace.Opened;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Splits whose marks are none: read from the beginning when the user says so, and never else. */
class UnmarkedSplitTest {
  @TempDir Path directory;
  private String name;

  @BeforeEach
  void nameTheSource(TestInfo test) {
    name = test.getDisplayName();
  }

  @AfterEach
  void leaveNoReader() {
    BeamReaderCache.invalidateAll();
  }

  /** apache/beam#395: a source without mark coder runs, and starts without a mark after a restart. */
  @Test
  void aSourceWithoutMarkCoderGetsNoMarkAfterARestart() throws Exception {
    ScriptedSource source =
        ScriptedSource.of(name, List.of(List.of(new Endless("e")))).withoutMarkCoder();
    SourceDriver driver = startAt(0, source);
    driver.readEpoch(0);
    assertThat(driver.readEpoch(1).get(0).elements(), contains("e2", "e3"));
    assertThat(SourceTrace.of(name).acknowledged, hasSize(1));
    assertEquals(MarkRecord.Kind.NOT_STORED, driver.checkpoint().readMark(0, 2).kind());
    BeamReaderCache.invalidateAll();

    Outcome restarted = startAt(2, source).readEpoch(2).get(0);

    assertThat(restarted.elements(), contains("e0", "e1"));
    assertEquals(3000, restarted.watermarkMillis());
    assertThat(SourceTrace.of(name).opened, contains(new Opened(0, null), new Opened(0, null)));
  }

  private SourceDriver startAt(long epoch, ScriptedSource source) throws Exception {
    return SourceDriver.start(
        directory,
        SourceDriver.registration(directory, source, new ReadLimits(2, 0))
            .resumedEpoch(epoch)
            .build());
  }

  /** Whoever loses the reader of such a source would read again what epochs have already taken. */
  @Test
  void aLostReaderWithoutAMarkIsNotReplacedByOneThatRepeatsWhatWasRead() throws Exception {
    ScriptedSource source =
        ScriptedSource.of(name, List.of(List.of(new Endless("e")))).withoutMarkCoder();
    SourceDriver driver = startAt(0, source);
    driver.readEpoch(0);
    BeamReaderCache.invalidateAll();

    IOException refused = assertThrows(IOException.class, () -> driver.read(0, 1));

    assertThat(
        refused.getMessage(),
        allOf(
            containsString(SourceDriver.FULL_NAME),
            containsString("epoch 1"),
            containsString("no checkpoint mark coder"),
            containsString("Start the pipeline again")));
    assertThat(SourceTrace.of(name).opened, contains(new Opened(0, null)));
  }

  /** What the user's start reads anew may be repeated until its first epoch is committed. */
  @Test
  void theFirstEpochOfAStartWithoutAMarkMayBeRunAgain() throws Exception {
    ScriptedSource source =
        ScriptedSource.of(name, List.of(List.of(new Endless("e")))).withoutMarkCoder();
    startAt(0, source).readEpoch(0);
    BeamReaderCache.invalidateAll();
    SourceDriver driver = startAt(1, source);
    assertThat(driver.read(0, 1).elements(), contains("e0", "e1"));
    assertThat(driver.read(0, 1).elements(), contains("e0", "e1"));
    assertThat(driver.readEpoch(2).get(0).elements(), contains("e2", "e3"));
  }
}
