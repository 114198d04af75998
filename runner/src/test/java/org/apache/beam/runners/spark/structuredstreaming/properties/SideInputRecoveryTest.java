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
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.SideInputPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Views and what waits for them outlast restarts. */
class SideInputRecoveryTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir Path directory;

  private RestartHarness harness(String name, Recorder recorder) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint-" + name),
        p -> SideInputPipeline.build(p, name, recorder),
        "--parallelism=2",
        "--sourceSplits=2");
  }

  @Test
  void pipelineRestartedAfterEveryEpochGivesTheSame() {
    Recorder plain = new Recorder(directory.resolve("plain"));
    harness("side-plain", plain).runToTheEnd();
    List<Recorded> expected = SideInputPipeline.outputs(plain);
    assertThat(expected.stream().map(Recorded::value).toList(), is(SideInputPipeline.VALUES));

    Recorder restarted = new Recorder(directory.resolve("restarted"));
    RestartHarness harness = harness("side-restarted", restarted);
    int runs = harness.runEpochByEpoch();
    assertThat(runs, greaterThan(3));
    assertThat(SideInputPipeline.outputs(restarted), is(expected));
  }
}
