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
package org.apache.beam.runners.spark.structuredstreaming.operations;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pipeline whose source has nothing costs next to nothing, in time and in files. */
class IdleTest {
  @TempDir Path checkpoint;

  private SparkStructuredStreamingPipelineResult start(String... options) {
    Pipeline pipeline = Pipeline.create(Runs.options(options));
    pipeline
        .apply("Numbers", Read.from(Feed.of(1, 2, 3).source()))
        .apply(Window.into(FixedWindows.of(Duration.millis(10))))
        .apply("Counts", Count.perElement())
        .apply("Collect", ParDo.of(new Collected<>()));
    return Runs.start(pipeline);
  }

  /**
   * The limit leaves room for a busy machine and for code that is not compiled yet. After a rest of
   * minutes the share is some percent: {@code -Didle.settleSeconds=120 -Didle.measureSeconds=60}.
   */
  @Test
  void aPipelineAtRestUsesLittleOfACore() {
    long settle = Long.getLong("idle.settleSeconds", 20);
    long seconds = Long.getLong("idle.measureSeconds", 15);
    SparkStructuredStreamingPipelineResult result = start("--checkpointDir=" + checkpoint);
    Runs.await("rest", () -> result.progress().epoch() >= 5);
    pause(settle);
    long epoch = result.progress().epoch();
    long cpu = cpuNanos();
    long start = System.nanoTime();
    pause(seconds);
    double share = 100.0 * (cpuNanos() - cpu) / (System.nanoTime() - start);
    System.out.printf(
        "A pipeline at rest used %.1f %% of one core in %d epochs over %d s%n",
        share, result.progress().epoch() - epoch, seconds);
    assertThat(result.cancel(), is(State.CANCELLED));
    assertThat(share, lessThan(40.0));
  }

  @Test
  void theCheckpointOfAPipelineAtRestDoesNotGrow() throws Exception {
    Runs.stopSession();
    // Ends the maintenance that an earlier query of this JVM has started, at an interval of its own.
    StateStore$.MODULE$.stop();
    System.setProperty("spark.sql.streaming.minBatchesToRetain", "3");
    System.setProperty("spark.sql.streaming.stateStore.maintenanceInterval", "200ms");
    System.setProperty("spark.sql.streaming.stateStore.minDeltasForSnapshot", "3");
    try {
      SparkStructuredStreamingPipelineResult result =
          start("--checkpointDir=" + checkpoint, "--maxIdlePauseMillis=1");
      Runs.await("epochs", () -> result.progress().epoch() >= 50);
      Runs.await("few files after 50 epochs", () -> files() <= 80);
      Runs.await("epochs", () -> result.progress().epoch() >= 100);
      Runs.await("few files after 100 epochs", () -> files() <= 80);
      assertThat(result.cancel(), is(State.CANCELLED));
      assertThat(files(), lessThanOrEqualTo(80L));
    } finally {
      System.clearProperty("spark.sql.streaming.minBatchesToRetain");
      System.clearProperty("spark.sql.streaming.stateStore.maintenanceInterval");
      System.clearProperty("spark.sql.streaming.stateStore.minDeltasForSnapshot");
      Runs.stopSession();
      StateStore$.MODULE$.stop();
    }
  }

  private long files() {
    while (true) {
      try (Stream<Path> all = Files.walk(checkpoint)) {
        return all.filter(Files::isRegularFile).count();
      } catch (IOException | UncheckedIOException e) {
        // A file that goes while it is listed: once more.
        Thread.onSpinWait();
      }
    }
  }

  private static long cpuNanos() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  private static void pause(long seconds) {
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    while (System.nanoTime() < end) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
  }
}
