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

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.EpochGate;

/**
 * Decides when the next epoch of one query start may begin, and knows when none will.
 *
 * <p>All sources ask once a round; the first of a round decides for all. A round for epoch {@code e}
 * proves that epoch {@code e - 1} is committed. After an epoch in which nothing happened the next
 * one waits a sixteenth of the time for which nothing has happened, between 10 ms and a limit: {@code
 * pause = clamp(rest / 16)}. So what comes after a rest is late by that share of it at most, while a
 * long rest costs next to nothing. The wait ends earlier when the earliest timer by processing time
 * is due, and is over at once when the query is to stop or to drain. There is no wait while a step has
 * something pending or a TestStream has events.
 *
 * <p>Asked by the query's thread, told by that thread and by whoever cancels.
 */
final class EpochControl implements EpochGate {
  private static final long LEAST_PAUSE_MILLIS = 10;
  private static final long REST_PER_PAUSE = 16;

  private final int sources;
  private final long maxPauseMillis;
  private final LongConsumer onCommitted;
  private final LongConsumer betweenEpochs;
  private final PipelineProgress progress;
  private final PipelineClock clock;
  private final Drain drain;
  private final ReadPace pace;
  private final CompletableFuture<Void> ending = new CompletableFuture<>();
  private final CompletableFuture<Void> quiet = new CompletableFuture<>();

  private int answersLeft;
  private boolean answer;
  private boolean stopping;
  private boolean finished;
  private boolean brokenOff;
  private long pauseMillis;
  private long earliestTimerMillis = Long.MAX_VALUE;
  private long firstEpochWithRows = -1;
  private long lastEpochEndNanos;
  private long restSinceNanos = System.nanoTime();

  /**
   * @param sources number of sources that ask in a round
   * @param onCommitted told the number of every epoch that turns out to be committed
   * @param betweenEpochs told the number of every committed epoch, more than once perhaps, when the next
   *     one is about to be planned
   */
  EpochControl(
      int sources,
      long maxPauseMillis,
      PipelineProgress progress,
      PipelineClock clock,
      Drain drain,
      ReadPace pace,
      LongConsumer onCommitted,
      LongConsumer betweenEpochs) {
    this.sources = sources;
    this.maxPauseMillis = maxPauseMillis;
    this.progress = progress;
    this.clock = clock;
    this.drain = drain;
    this.pace = pace;
    this.onCommitted = onCommitted;
    this.betweenEpochs = betweenEpochs;
  }

  @Override
  public synchronized boolean mayStart(long epoch) {
    if (answersLeft == 0) {
      if (epoch > 0) {
        onCommitted.accept(epoch - 1);
      }
      answer = decide(epoch);
      if (answer) {
        drain.epochBegins(epoch);
      }
      answersLeft = sources;
    }
    answersLeft--;
    return answer;
  }

  @Override
  public boolean isDraining(long epoch) {
    return drain.isDraining(epoch);
  }

  @Override
  public double readShare() {
    return pace.share();
  }

  @Override
  public void epochCommitted(long endOffset) {
    // That it is committed is known from the round for the next epoch, which also comes behind the last
    // one. Here no lock is held: what is told of it may take its time.
    betweenEpochs.accept(endOffset - 1);
  }

  @Override
  public Map<String, String> sourceMetrics(int sourceIndex) {
    return progress.sourceMetrics(sourceIndex);
  }

  /** Takes note of what an epoch did, once its job has ended and before it is committed. */
  synchronized void epochDone(EpochReport report) {
    pace.epochDone(report);
    lastEpochEndNanos = System.nanoTime();
    finished = report.isAtEndOfTime() && !brokenOff;
    if (finished) {
      ending.complete(null);
    }
    if (firstEpochWithRows < 0 && report.rowsRead() > 0) {
      firstEpochWithRows = report.epoch();
    }
    earliestTimerMillis = report.earliestProcessingTimerMillis();
    boolean isDriven = clock.isDrivenByStreams(report.epoch() + 1);
    if (report.isActive() || report.hasPending() || isDriven) {
      restSinceNanos = lastEpochEndNanos;
      pauseMillis = 0;
    } else {
      long rest = TimeUnit.NANOSECONDS.toMillis(lastEpochEndNanos - restSinceNanos);
      pauseMillis = Math.min(maxPauseMillis, Math.max(LEAST_PAUSE_MILLIS, rest / REST_PER_PAUSE));
    }
  }

  /** Looks again whether the next epoch may begin: a drain was asked for. */
  synchronized void drainRequested() {
    notifyAll();
  }

  /** Lets no further epoch begin. A running one goes on to its commit. */
  synchronized void stop() {
    stopping = true;
    ending.complete(null);
    notifyAll();
  }

  /**
   * Lets the running epoch not count, whatever becomes of it, unless it has brought the pipeline to its
   * end: that one only needs to be committed, and is to be waited for.
   *
   * @return whether it does not count
   */
  synchronized boolean breakOff() {
    brokenOff = !finished;
    return brokenOff;
  }

  /**
   * The first epoch that this start has run, committed or not, and in which a source has read a row; -1
   * if there is none.
   */
  synchronized long firstEpochWithRows() {
    return firstEpochWithRows;
  }

  /** Whether every source and step has come to the end of time. */
  synchronized boolean isFinished() {
    return finished;
  }

  /** Completes when no further epoch will begin; one that is running goes on to its commit. */
  CompletableFuture<Void> ending() {
    return ending;
  }

  /** Completes when, besides, a round for the next epoch has shown the last one to be committed. */
  CompletableFuture<Void> quiet() {
    return quiet;
  }

  private boolean decide(long epoch) {
    while (!stopping && !finished) {
      long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lastEpochEndNanos);
      long left =
          Math.min(
              pauseMillis - waited,
              earliestTimerMillis == Long.MAX_VALUE
                  ? Long.MAX_VALUE
                  : clock.millisUntilPast(epoch, earliestTimerMillis));
      if (left <= 0 || drain.isWaitingForEpoch()) {
        return true;
      }
      try {
        wait(left);
      } catch (InterruptedException e) {
        throw Interruption.rethrown(e);
      }
    }
    quiet.complete(null);
    return false;
  }
}
