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
package org.apache.beam.runners.spark.structuredstreaming.restarts;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.values.PCollection;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever a pipeline knows outlasts a stop: run in one go and started anew for every single epoch,
 * it commits the same elements with the same timestamps, windows and panes, in the same epochs.
 */
class RestartAfterEveryEpochTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir Path directory;

  static Stream<RestartedPipeline> pipelines() {
    return Stream.of(
            StatePipelines.all(),
            TimerPipelines.all(),
            WindowPipelines.all(),
            ViewPipelines.all(),
            DoFnPipelines.all())
        .flatMap(List::stream);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pipelines")
  void aPipelineStoppedBehindEveryEpochCommitsWhatItDoesInOneRun(RestartedPipeline pipeline) {
    Recorder inOneRun = new Recorder(directory.resolve("in one run"));
    SparkStructuredStreamingPipelineResult result =
        harness(pipeline, inOneRun, "checkpoint").runToTheEnd();
    List<Recorded> committed = committed(inOneRun);
    assertThat(committed.stream().map(RestartedPipeline::text).sorted().toList(), is(pipeline.expected()));

    Recorder restarted = new Recorder(directory.resolve("restarted"));
    long epochs = harness(pipeline, restarted, "checkpoint of restarts").runEpochByEpoch();
    assertThat(committed(restarted), is(committed));
    assertThat(epochs, is(result.progress().epoch() + 1));
    assertThat(epochs, greaterThan(3L));
  }

  private RestartHarness harness(RestartedPipeline pipeline, Recorder recorder, String checkpoint) {
    List<String> options = new ArrayList<>(pipeline.options());
    options.add("--parallelism=2");
    options.add("--maxRestarts=0");
    Consumer<Pipeline> build = p -> record(pipeline.build().output(p), recorder);
    return new RestartHarness(
        SPARK, directory.resolve(checkpoint), build, options.toArray(String[]::new));
  }

  private static <T> void record(PCollection<T> output, Recorder recorder) {
    output.apply(recorder.as("output"));
  }

  /** Everything that passed, in a fixed order: no epoch fails, so each runs once and is committed. */
  private static List<Recorded> committed(Recorder recorder) {
    return recorder.all("output").stream()
        .sorted(
            Comparator.comparingLong(Recorded::epoch)
                .thenComparing(RestartedPipeline::text))
        .toList();
  }
}
