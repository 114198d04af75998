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
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * apache/spark#46415, apache/spark#54697, apache/spark#52821: snapshots of state are made all the time
 * beside the epochs, stores are closed and opened again, and a snapshot is lost: state is exact.
 */
class StateSnapshotTest {
  @RegisterExtension
  static final TestSpark SPARK =
      TestSpark.on("local[2]")
          .with("spark.sql.streaming.stateStore.maintenanceInterval", "100ms")
          .with("spark.sql.streaming.stateStore.minDeltasForSnapshot", "2");

  private static final int EPOCHS = 30;
  private static final int KEYS = 5;
  private static final int PARTITIONS = 2;

  @TempDir Path directory;

  /** Spark makes snapshots in one thread of the JVM, at the interval of whoever began with it. */
  @BeforeEach
  @AfterEach
  void stopMaintenance() {
    StateStore$.MODULE$.stop();
  }

  private static Script script() {
    Script script = Script.split();
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      script.burst(epoch, "k", KEYS).watermark(epoch).epoch();
    }
    return script.end();
  }

  private static void build(Pipeline pipeline, Recorder recorder) {
    pipeline
        .apply(Script.read("state-snapshots", script()))
        .apply(WithKeys.of((String key) -> key).withKeyType(TypeDescriptors.strings()))
        .apply("Count", ParDo.of(new CountFn()))
        .apply(recorder.as("counts"));
  }

  /** The snapshots in the checkpoint by the directory of their partition. */
  private Map<Path, List<Path>> snapshots() {
    return files(directory.resolve("checkpoint/state"))
        .flatMap(StateSnapshotTest::files)
        .flatMap(StateSnapshotTest::files)
        .filter(file -> file.getFileName().toString().matches("[0-9]+\\.zip"))
        .collect(Collectors.groupingBy(Path::getParent));
  }

  /** What is in a directory, from which files may go at any time; nothing if it is none. */
  private static Stream<Path> files(Path parent) {
    File[] files = parent.toFile().listFiles();
    return files == null ? Stream.of() : Stream.of(files).map(File::toPath);
  }

  private static long version(Path snapshot) {
    return Long.parseLong(snapshot.getFileName().toString().replace(".zip", ""));
  }

  /** Whether every partition has a snapshot that is newer than {@code version}. */
  private boolean isSnapshotBehind(long version) {
    Map<Path, List<Path>> snapshots = snapshots();
    return snapshots.size() >= PARTITIONS
        && snapshots.values().stream()
            .allMatch(files -> files.stream().anyMatch(file -> version(file) > version));
  }

  /** Deletes the newest snapshot of every partition; the changes since the one before are all there. */
  private List<Path> loseSnapshots() throws IOException {
    List<Path> lost = new ArrayList<>();
    for (List<Path> files : snapshots().values()) {
      Path newest = files.stream().max(Comparator.comparingLong(StateSnapshotTest::version)).get();
      Files.delete(newest);
      Files.deleteIfExists(newest.resolveSibling("." + newest.getFileName() + ".crc"));
      lost.add(newest);
    }
    return lost;
  }

  @Test
  void stateIsExactWhenItsNewestSnapshotIsLost() throws IOException {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    RestartHarness harness =
        new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            pipeline -> build(pipeline, recorder),
            "--parallelism=" + PARTITIONS,
            "--triggerIntervalMillis=300");
    for (long epoch = 5; epoch <= 15; epoch += 5) {
      long version = epoch - 5;
      assertThat(
          harness.runUntil(
              "snapshots behind epoch " + version,
              result -> isSnapshotBehind(version) && result.progress().epoch() > version),
          is(State.CANCELLED));
      assertThat(loseSnapshots(), not(empty()));
    }
    SparkStructuredStreamingPipelineResult last = harness.runToTheEnd();

    assertThat(last.progress().epoch(), greaterThan((long) EPOCHS - 1));
    List<String> exact =
        IntStream.range(0, KEYS)
            .boxed()
            .flatMap(key -> IntStream.rangeClosed(1, EPOCHS).mapToObj(n -> "k" + key + "=" + n))
            .sorted()
            .toList();
    assertThat(recorder.values("counts"), is(exact));
  }

  private static final class CountFn extends DoFn<KV<String, String>, KV<String, Integer>> {
    @StateId("count")
    private final StateSpec<ValueState<Integer>> countSpec = StateSpecs.value(VarIntCoder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("count") ValueState<Integer> count,
        OutputReceiver<KV<String, Integer>> out) {
      Integer before = count.read();
      int now = before == null ? 1 : before + 1;
      count.write(now);
      out.output(KV.of(element.getKey(), now));
    }
  }
}
