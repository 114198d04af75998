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
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceTrace;
import org.apache.beam.runners.spark.structuredstreaming.testing.OneTimeFaults;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What a task does again when Spark retries it, leaves the trace that one attempt leaves. */
class TaskRetryTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2,3]");

  @TempDir Path directory;

  /** apache/beam#39971: a retry must not go on where the failed attempt left the cached reader. */
  @Test
  void aRetriedReadBeginsWhereItsEpochBegins() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    Script ten = Script.split();
    for (int i = 0; i < 10; i++) {
      ten.at(i, "e" + i);
    }
    SparkStructuredStreamingPipelineResult result =
        new RestartHarness(
                SPARK,
                directory.resolve("checkpoint"),
                p ->
                    p.apply(Script.read("retried", ten.epoch().end()))
                        .apply(faults.on("fault", Set.of("e5")))
                        .apply(PanePath.BY_WINDOW.fixedWindows(100, 0, false))
                        .apply(MapElements.into(TypeDescriptors.strings()).via((String s) -> "all"))
                        .apply(Count.perElement())
                        .apply(recorder.as("count")),
                "--maxRestarts=0")
            .runToTheEnd();
    assertThat(result.query().exception().isDefined(), is(false));
    assertThat(faults.happened("fault"), is(1));
    assertThat(recorder.values("count"), is(List.of("all=10")));
    SourceTrace trace = SourceTrace.of("retried");
    assertThat(trace.violations, empty());
    // The failed attempt's reader is not used again: the retry opens another at the epoch's start.
    assertThat(trace.opened, is(List.of(opened(), opened())));
    assertThat(trace.pulled.get(), is(16));
  }

  private static SourceTrace.Opened opened() {
    return new SourceTrace.Opened(0, null);
  }

  @Test
  void aPipelineWhoseTasksFailAgainAndAgainIsExact() {
    List<String> groups = RecoveryPipeline.groups();
    RecoveryPipeline pipeline =
        new RecoveryPipeline(
            "task-retries",
            directory,
            Set.of("r0-2", "r1-3", "r0-9", "r0-14", "r1-19"),
            Set.of(groups.get(0), groups.get(4), groups.get(7)));
    new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            pipeline::build,
            "--maxRecordsPerMicroBatch=5",
            "--maxRestarts=0")
        .runToTheEnd();
    assertThat(pipeline.faults().happened(RecoveryPipeline.BEFORE), is(5));
    assertThat(pipeline.faults().happened(RecoveryPipeline.BEHIND), is(3));
    pipeline.assertExact();
    assertThat(SourceTrace.of("task-retries").violations, empty());
  }
}
