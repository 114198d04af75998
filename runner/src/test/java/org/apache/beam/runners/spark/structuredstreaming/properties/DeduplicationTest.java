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

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceTrace;
import org.apache.beam.runners.spark.structuredstreaming.testing.OneTimeFaults;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.io.Read;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Sources that may give a record twice, in one epoch or in several, in one split or in two. */
class DeduplicationTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  private static final List<String> EACH_ONCE =
      List.of("a at 1000", "b at 2000", "c at 3000", "d at 4000", "e at 5000");

  @TempDir Path directory;

  private static Read.Unbounded<String> records(String name) {
    Script first = Script.split().at(1, "a").at(2, "b").at(1, "a").epoch();
    first.at(2, "b").at(3, "c").watermark(3).epoch().at(1, "a").at(5, "e").epoch();
    Script second = Script.split().at(1, "a").epoch().at(4, "d").at(3, "c").epoch();
    second.at(5, "e").at(4, "d").epoch();
    return Read.from(Script.source(name, first.end(), second.end()).withRecordIds());
  }

  private RestartHarness harness(String name, Recorder recorder, OneTimeFaults faults) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint"),
        pipeline ->
            pipeline
                .apply(records(name))
                .apply(recorder.as("records"))
                .apply(faults.on("fault", Set.of("c", "e"))),
        "--parallelism=2",
        "--maxRestarts=5");
  }

  private static List<String> timestamped(Recorder recorder) {
    return recorder.seen("records").stream()
        .map(record -> record.value() + " at " + record.timestampMillis())
        .sorted()
        .toList();
  }

  @Test
  void eachRecordPassesOnceAlsoWhenEpochsFailAndRunAgain() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    harness("deduplicated", recorder, faults).runToTheEnd();
    assertThat(faults.happened("fault"), is(2));
    assertThat(timestamped(recorder), is(EACH_ONCE));
    assertThat(SourceTrace.of("deduplicated").violations, empty());
  }

  @Test
  void idsAreRememberedOverRestartsBehindEveryEpoch() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    RestartHarness harness = harness("deduplicated-restarts", recorder, faults);
    int runs = harness.runEpochByEpoch();
    assertThat(runs, greaterThan(2));
    assertThat(timestamped(recorder), is(EACH_ONCE));
  }
}
