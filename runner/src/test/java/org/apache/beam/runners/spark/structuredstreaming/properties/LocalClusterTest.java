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
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Executors in processes of their own: nothing goes by static fields, and any of them may die. */
class LocalClusterTest {
  @RegisterExtension static final TestSpark SPARK = LocalCluster.of(2);

  @TempDir Path directory;

  private RestartHarness harness(RecoveryPipeline pipeline, int recordsPerEpoch) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint"),
        pipeline::build,
        "--maxRecordsPerMicroBatch=" + recordsPerEpoch,
        "--maxRestarts=0");
  }

  @Test
  void failingTasksAndRestartsOnSeparateExecutorsAreExact() {
    List<String> groups = RecoveryPipeline.groups();
    RecoveryPipeline pipeline =
        new RecoveryPipeline(
            "cluster", directory, Set.of("r0-3", "r1-8", "r1-15"), Set.of(groups.get(1), groups.get(5)));
    RestartHarness harness = harness(pipeline, 10);
    assertThat(
        harness.runUntil("two epochs", result -> result.progress().epoch() >= 1),
        is(State.CANCELLED));
    harness.runToTheEnd();
    pipeline.assertExact();
    assertThat(pipeline.faults().happened(RecoveryPipeline.BEFORE), is(3));
    assertThat(pipeline.faults().happened(RecoveryPipeline.BEHIND), is(2));
  }

  /**
   * apache/spark#24892, apache/spark#50033: an executor is killed while an epoch reads, and another
   * while an epoch's last level runs, when map outputs of the lower level are lost with it.
   */
  @Test
  void executorsKilledInMidEpochLoseNothing() throws IOException {
    RecoveryPipeline pipeline = new RecoveryPipeline("killed", directory, Set.of(), Set.of());
    Path victims = Files.createDirectories(directory.resolve("victims"));
    SparkStructuredStreamingPipelineResult result =
        new RestartHarness(
                SPARK,
                directory.resolve("checkpoint"),
                p ->
                    pipeline.build(
                        p,
                        records -> records.apply("victim before", ParDo.of(new VictimFn(victims, "r1-7"))),
                        groups ->
                            groups.apply(
                                "victim behind",
                                ParDo.of(new VictimFn(victims, RecoveryPipeline.groups().get(1))))),
                "--maxRecordsPerMicroBatch=10",
                "--maxRestarts=0")
            .start();
    try {
      for (String victim : List.of("r1-7", RecoveryPipeline.groups().get(1))) {
        killWhoWaits(victims.resolve(VictimFn.fileName(victim)));
      }
      RestartHarness.finish(result);
    } finally {
      result.cancel();
    }
    pipeline.assertExact();
    assertThat(LocalCluster.executors().size(), greaterThanOrEqualTo(1));
  }

  /** Kills, as SIGKILL does, the executor that has put its process id into the file. */
  private static void killWhoWaits(Path file) throws IOException {
    Await.until(
        "an executor at " + file.getFileName(),
        () -> Files.exists(file) && file.toFile().length() > 0,
        LocalCluster::executors);
    long process = Long.parseLong(Files.readString(file));
    ProcessHandle victim =
        LocalCluster.executors().stream()
            .filter(executor -> executor.pid() == process)
            .findAny()
            .orElseThrow();
    victim.destroyForcibly();
    Await.until("the death of " + process, () -> !victim.isAlive(), () -> victim);
  }

  /** The first time that an element comes, waits to be killed with its whole process. */
  private static final class VictimFn extends DoFn<String, String> {
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(4);

    private final String directory;
    private final String element;

    VictimFn(Path directory, String element) {
      this.directory = directory.toString();
      this.element = element;
    }

    static String fileName(String element) {
      return element.replaceAll("[^a-z0-9]", "_");
    }

    @ProcessElement
    public void process(@Element String value, OutputReceiver<String> out) throws IOException {
      Path file = Path.of(directory, fileName(element));
      if (value.equals(element) && !Files.exists(file)) {
        Files.write(
            file,
            Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.UTF_8));
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (System.nanoTime() < end && !Thread.currentThread().isInterrupted()) {
          LockSupport.parkNanos(end - System.nanoTime());
        }
        throw new IllegalStateException("nobody has killed the executor");
      }
      out.output(value);
    }
  }
}
