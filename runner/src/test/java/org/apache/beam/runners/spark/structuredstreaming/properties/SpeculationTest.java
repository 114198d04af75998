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
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.greaterThan;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.SparkCounting;
import org.apache.beam.runners.spark.structuredstreaming.testing.StandaloneCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Spark starts a copy of a task that is slow, on another host, and uses the output of whichever ends
 * first. What is durable is of that one, whatever the other does and whenever.
 */
@Timeout(240)
class SpeculationTest {
  @Order(0)
  @RegisterExtension
  static final StandaloneCluster CLUSTER = StandaloneCluster.of(2, 2);

  @Order(1)
  @RegisterExtension
  static final TestSpark SPARK =
      CLUSTER
          .session()
          .with("spark.speculation", "true")
          .with("spark.speculation.interval", "50ms")
          .with("spark.speculation.quantile", "0.5");

  @TempDir Path directory;

  /** Counts copies that have won, and tasks that have lost. */
  private static final class Ends extends SparkListener {
    private final AtomicInteger wonByCopies = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();

    @Override
    public void onTaskEnd(SparkListenerTaskEnd ended) {
      if (!ended.taskInfo().successful()) {
        lost.incrementAndGet();
      } else if (ended.taskInfo().speculative()) {
        wonByCopies.incrementAndGet();
      }
    }
  }

  /**
   * Waits at a record the first time it comes until it is let go, and for a least time, whatever it is
   * interrupted by.
   */
  private static final class StubbornFn extends DoFn<String, String> {
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(3);

    private final String waitsAt;
    private final String reached;
    private final String open;
    private final long leastMillis;

    StubbornFn(String waitsAt, Path reached, Path open, long leastMillis) {
      this.waitsAt = waitsAt;
      this.leastMillis = leastMillis;
      this.reached = reached.toString();
      this.open = open.toString();
    }

    @ProcessElement
    public void process(@Element String record, OutputReceiver<String> out) {
      if (record.equals(waitsAt) && isFirst()) {
        long start = System.nanoTime();
        while (mustWait(System.nanoTime() - start)) {
          if (!Thread.interrupted()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
          }
        }
      }
      out.output(record);
    }

    private boolean mustWait(long waitedNanos) {
      boolean isOpen = Files.exists(Path.of(open)) || waitedNanos > PATIENCE_NANOS;
      return !isOpen || waitedNanos < TimeUnit.MILLISECONDS.toNanos(leastMillis);
    }

    private boolean isFirst() {
      try {
        Files.createFile(Path.of(reached));
        return true;
      } catch (FileAlreadyExistsException e) {
        return false;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private RestartHarness harness(RecoveryPipeline pipeline, RecoveryPipeline.Inserted<String> slow,
      RecoveryPipeline.Inserted<String> slowBehind, String... options) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint"),
        p -> pipeline.build(p, slow, slowBehind),
        options);
  }

  @BeforeEach
  void awaitExecutors() {
    LocalCluster.awaitExecutors(SPARK, 2);
  }

  @Test
  void copiesOfSlowTasksLoseAndRepeatNothing() {
    String behind = RecoveryPipeline.groups().get(0);
    Set<String> before = Set.of("r0-2", "r1-9", "r0-17");
    RecoveryPipeline pipeline = new RecoveryPipeline("speculation", directory, Set.of(), Set.of());
    WaitPoints points = new WaitPoints(directory.resolve("points"));
    Ends ends = new Ends();
    SPARK.session().sparkContext().addSparkListener(ends);
    try (SparkCounting counting = SparkCounting.of(SPARK)) {
      harness(
              pipeline,
              records -> records.apply(points.on("slow before", before)),
              groups -> groups.apply(points.on("slow behind", Set.of(behind))),
              "--maxRecordsPerMicroBatch=10",
              "--parallelism=2",
              "--maxRestarts=0")
          .runToTheEnd();
      assertThat("failed jobs", counting.failedJobs(), empty());
    } finally {
      SPARK.session().sparkContext().removeSparkListener(ends);
    }
    pipeline.assertExact();
    assertThat("copies that won", ends.wonByCopies.get(), greaterThan(before.size()));
  }

  /**
   * The task waits at one record and its copy at a later one. The task wins, with less read as it has
   * no time left; the copy goes on when the epoch is committed.
   */
  @Test
  void aCopyThatOutlivesItsEpochChangesNothing() throws IOException {
    RecoveryPipeline pipeline = new RecoveryPipeline("outlives", directory, Set.of(), Set.of());
    Path slowIsThere = directory.resolve("slow-is-there");
    Path slowMayGo = directory.resolve("slow-may-go");
    Path copyIsThere = directory.resolve("copy-is-there");
    Path copyMayGo = directory.resolve("copy-may-go");
    RecoveryPipeline.Inserted<String> steps =
        records ->
            records
                .apply("slow", ParDo.of(new StubbornFn("r0-1", slowIsThere, slowMayGo, 6_000)))
                .apply("copy", ParDo.of(new StubbornFn("r0-3", copyIsThere, copyMayGo, 0)));
    Ends ends = new Ends();
    SPARK.session().sparkContext().addSparkListener(ends);
    SparkStructuredStreamingPipelineResult result =
        harness(
                pipeline,
                steps,
                groups -> groups,
                "--maxRecordsPerMicroBatch=10",
                "--maxBatchDurationMillis=5000",
                "--triggerIntervalMillis=2000000000000",
                "--readerIdleTimeoutMillis=2000000000001",
                "--maxRestarts=0")
            .start();
    try {
      Await.until("the copy", () -> Files.exists(copyIsThere), result::getState);
      Files.createFile(slowMayGo);
      Await.until(
          "the first epoch",
          () -> result.progress().epoch() == 0 || result.getState().isTerminal(),
          result::getState);
      // The copy waits yet, so it is not what has come to the epoch's end.
      int lost = ends.lost.get();
      Files.createFile(copyMayGo);
      Await.until("the end of the copy", () -> ends.lost.get() > lost, result::getState);
    } finally {
      result.cancel();
      SPARK.session().sparkContext().removeSparkListener(ends);
    }
    harness(pipeline, steps, groups -> groups, "--maxRecordsPerMicroBatch=10").runToTheEnd();
    pipeline.assertExact();
  }
}
