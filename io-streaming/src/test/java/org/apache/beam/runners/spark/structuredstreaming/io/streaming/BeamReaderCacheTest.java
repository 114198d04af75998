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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamReaderCache.CachedReader;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamReaderCache.MarkRestorer;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.MarkRecord.Writer;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Endless;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Mark;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.util.CoderUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** When a reader is reused, finalized, closed or restored. */
class BeamReaderCacheTest {
  private static final long LONG_TIMEOUT = 600_000;
  private static final Writer WRITER = new Writer("application", 1);

  private final PipelineOptions options = PipelineOptionsFactory.create();
  private String key;
  private ScriptedSource split;
  private SourceTrace trace;
  private byte[] durable;

  @BeforeEach
  void makeSource(TestInfo test) {
    String name = "cache " + test.getDisplayName();
    trace = SourceTrace.of(name);
    key = BeamReaderCache.key("/checkpoint/" + name, 0);
    split =
        ScriptedSource.of(name, List.of(List.of(new Endless("e")))).split(1, options).get(0);
  }

  @AfterEach
  void leaveNoReader() {
    BeamReaderCache.invalidateAll();
    assertThat(trace.violations, empty());
  }

  private static long unknown() {
    return -1;
  }

  private CachedReader<String> acquire(long epoch) throws IOException {
    return acquire(epoch, LONG_TIMEOUT, BeamReaderCacheTest::unknown);
  }

  private CachedReader<String> acquire(long epoch, long timeout, LongSupplier committed)
      throws IOException {
    return BeamReaderCache.acquire(
        key, epoch, split, options, timeout, committed, at -> durable);
  }

  /** Reads {@code records} and completes the batch that ends at {@code endEpoch}. */
  private void complete(CachedReader<String> reader, long endEpoch, int records)
      throws IOException {
    for (int record = 0; record < records; record++) {
      assertTrue(reader.advance());
    }
    Mark mark = (Mark) reader.reader().getCheckpointMark();
    durable = reader.encode(mark);
    reader.complete(MarkRecord.coded(endEpoch, 0, false, durable, WRITER), mark);
    reader.release();
  }

  @Test
  void aBatchThatStartsWhereTheReaderStandsReusesItAndFinalizesItsMark() throws IOException {
    CachedReader<String> first = acquire(0);
    complete(first, 1, 3);
    assertThat(trace.acknowledged, empty());
    assertEquals(1, first.epoch());
    assertArrayEquals(durable, first.codedMark());

    CachedReader<String> second = acquire(1);

    assertSame(first, second);
    assertEquals(3, trace.acknowledged.get(0).records());
    second.release();
  }

  @Test
  void aMarkIsFinalizedOnlyOnceHoweverOftenItsEpochStarts() throws IOException {
    complete(acquire(0), 1, 3);
    acquire(1).release();
    acquire(1).release();

    assertThat(trace.acknowledged, hasSize(1));
  }

  @Test
  void anyOtherStartEpochClosesWithoutFinalizingAndRestores() throws IOException {
    for (long epoch : new long[] {0, 1, 3, 99}) {
      CachedReader<String> first = acquireAt(epoch == 0 ? 1 : 0, new byte[0]);
      complete(first, 2, 3);

      CachedReader<String> second = acquire(epoch);

      assertNotSame(first, second);
      assertTrue(second.advance());
      assertEquals("e3", second.reader().getCurrent());
      second.release();
      BeamReaderCache.invalidateAll();
    }
    assertThat(trace.acknowledged, empty());
    assertEquals(trace.opened.size(), trace.closed.get());
  }

  private CachedReader<String> acquireAt(long epoch, byte[] mark) throws IOException {
    durable = mark;
    return acquire(epoch);
  }

  @Test
  void aReaderThatMovedWithoutCompletingIsClosedAndRestored() throws IOException {
    complete(acquire(0), 1, 3);
    CachedReader<String> moved = acquire(1);
    moved.advance();
    moved.release();

    CachedReader<String> restored = acquire(1);

    assertNotSame(moved, restored);
    restored.advance();
    assertEquals("e3", restored.reader().getCurrent());
    restored.release();
  }

  @Test
  void aReaderInUseIsNeverSharedAndTheLaterOneStays() throws IOException {
    complete(acquire(0), 1, 3);
    CachedReader<String> zombie = acquire(1);
    CachedReader<String> second = acquire(1);
    assertNotSame(zombie, second);
    complete(second, 2, 2);
    complete(zombie, 2, 5);

    CachedReader<String> third = acquire(2);

    assertSame(second, third);
    assertThat(trace.acknowledged, hasSize(2));
    assertEquals(2, trace.acknowledged.get(1).records());
    assertEquals(1, trace.closed.get());
    third.release();
  }

  @Test
  void aReaderThatItsRestorerDoesNotConfirmIsNotReused() throws IOException {
    CachedReader<String> first = acquire(0);
    complete(first, 1, 3);
    MarkRestorer other =
        new MarkRestorer() {
          @Override
          public byte[] restore(long epoch) {
            return durable;
          }

          @Override
          public boolean confirms(long epoch, CachedReader<?> reader) {
            return false;
          }
        };

    CachedReader<String> second =
        BeamReaderCache.acquire(key, 1, split, options, LONG_TIMEOUT, BeamReaderCacheTest::unknown, other);

    assertNotSame(first, second);
    assertThat(trace.acknowledged, empty());
    second.release();
  }

  @Test
  void aStartWithoutDurableMarkIsFreshAtEpochZeroAndAnErrorLater() throws IOException {
    durable = null;
    acquire(0).release();

    IllegalStateException failure =
        assertThrows(IllegalStateException.class, () -> acquire(4));

    assertThat(failure.getMessage(), containsString("epoch 4"));
    assertEquals(0, BeamReaderCache.size());
  }

  @Test
  void aDurableMarkOfZeroLengthIsAFreshStart() throws IOException {
    CachedReader<String> reader = acquireAt(7, new byte[0]);
    reader.advance();

    assertEquals("e0", reader.reader().getCurrent());
    reader.release();
  }

  @Test
  void aDurableMarkIsDecodedByTheSourcesCoder() throws IOException {
    byte[] mark =
        CoderUtils.encodeToByteArray(split.getCheckpointMarkCoder(), new Mark(0, 9, 0, null));

    CachedReader<String> reader = acquireAt(7, mark);
    reader.advance();

    assertEquals("e9", reader.reader().getCurrent());
    assertArrayEquals(mark, reader.codedMark());
    reader.release();
  }

  @Test
  void invalidateClosesOneReaderAndFinalizesNothing() throws IOException {
    complete(acquire(0), 1, 3);

    BeamReaderCache.invalidate(BeamReaderCache.key("/elsewhere", 0));
    assertEquals(1, BeamReaderCache.size());
    BeamReaderCache.invalidate(key);

    assertEquals(0, BeamReaderCache.size());
    assertEquals(1, trace.closed.get());
    assertThat(trace.acknowledged, empty());
  }

  @Test
  void aReaderInvalidatedWhileInUseIsClosedByItsOwner() throws IOException {
    CachedReader<String> reader = acquire(0);
    BeamReaderCache.invalidateAll();
    assertEquals(0, trace.closed.get());

    complete(reader, 1, 1);

    assertEquals(1, trace.closed.get());
    assertEquals(0, BeamReaderCache.size());
  }

  @Test
  void retiringAQueryFinalizesWhatIsCommittedAndLeavesOtherQueriesAlone() throws IOException {
    complete(acquire(0, LONG_TIMEOUT, () -> 0), 1, 3);
    String otherKey = BeamReaderCache.key("/checkpoint-2/other", 0);
    BeamReaderCache.acquire(
            otherKey, 0, split, options, LONG_TIMEOUT, BeamReaderCacheTest::unknown, at -> null)
        .discard(null);

    BeamReaderCache.retireAll("/checkpoint-2");
    assertThat(trace.acknowledged, empty());
    BeamReaderCache.retireAll("/checkpoint");

    assertEquals(3, trace.acknowledged.get(0).records());
    assertEquals(0, BeamReaderCache.size());
    assertEquals(trace.opened.size(), trace.closed.get());
  }

  @Test
  void anIdleReaderIsClosedByTheSweeperWhichFinalizesWhatIsCommitted() throws Exception {
    complete(acquire(0, 20, () -> 0), 1, 3);

    await(() -> trace.closed.get() == 1);

    assertThat(trace.acknowledged, hasSize(1));
    assertEquals(0, BeamReaderCache.size());
    await(() -> !sweeperLives());
  }

  @Test
  void anIdleReaderWhoseEpochIsNotCommittedDropsItsMark() throws Exception {
    complete(acquire(0, 20, () -> -1), 1, 3);

    await(() -> trace.closed.get() == 1);

    assertThat(trace.acknowledged, empty());
  }

  /** As when its split has moved to another executor. */
  @Test
  void aReaderThatAnEpochLeavesBehindIsFinalizedAndClosedLongBeforeItsTimeout() throws Exception {
    CachedReader<String> staying = acquire(0);
    CachedReader<String> left = ofKey("/checkpoint/left");
    CachedReader<String> ofOther = ofKey("/checkpoint-2/other");
    complete(staying, 2, 1);
    complete(left, 1, 3);
    complete(ofOther, 1, 1);

    BeamReaderCache.epochBegun("/checkpoint", 2);

    await(() -> trace.closed.get() == 1);
    assertThat(trace.acknowledged, hasSize(1));
    assertEquals(3, trace.acknowledged.get(0).records());
    assertEquals(2, BeamReaderCache.size());
    CachedReader<String> again = acquire(2);
    assertSame(staying, again);
    again.release();
  }

  /** A reader of an epoch 0 that is committed. */
  private CachedReader<String> ofKey(String location) throws IOException {
    return BeamReaderCache.acquire(
        BeamReaderCache.key(location, 0), 0, split, options, LONG_TIMEOUT, () -> 0, at -> null);
  }

  @Test
  void aReaderInUseIsNotSwept() throws Exception {
    CachedReader<String> used = acquire(0, 1, () -> 0);
    String idleKey = BeamReaderCache.key("/idle", 0);
    CachedReader<String> idle =
        BeamReaderCache.acquire(idleKey, 0, split, options, 1, () -> 0, at -> null);
    complete(idle, 1, 1);
    await(() -> trace.closed.get() == 1);

    assertEquals(1, BeamReaderCache.size());
    assertTrue(used.advance());
    used.release();
    assertThat(trace.violations, empty());
  }

  @Test
  void keysTellCheckpointsAndSplitsApart() {
    assertEquals(BeamReaderCache.key("/a", 1), BeamReaderCache.key("/a", 1));
    assertThat(BeamReaderCache.key("/a", 1), not(BeamReaderCache.key("/a", 2)));
    assertThat(BeamReaderCache.key("/a", 1), not(BeamReaderCache.key("/b", 1)));
  }

  private static boolean sweeperLives() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("beam-reader-cache-sweeper"));
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    CountDownLatch pause = new CountDownLatch(1);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, "the condition did not come true in 30 s");
      if (pause.await(2, TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("nobody counts this latch down");
      }
    }
  }
}
