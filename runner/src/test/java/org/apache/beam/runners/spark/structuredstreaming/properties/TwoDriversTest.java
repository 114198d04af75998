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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.ForkedProgram;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalFilesBySchemeOnly;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A second driver is started with the checkpoint of one that runs. */
@Timeout(180)
class TwoDriversTest {
  @RegisterExtension
  static final TestSpark SPARK =
      TestSpark.on("local[2]")
          .with("spark.hadoop." + LocalFilesBySchemeOnly.SETTING, LocalFilesBySchemeOnly.class.getName());

  @TempDir Path directory;

  /** Runs the pipeline in a process of its own, with the checkpoint and files of the test. */
  public static final class SecondDriver {
    private SecondDriver() {}

    /**
     * Runs the pipeline, or says why it is refused.
     *
     * @param arguments the checkpoint directory and that of the other files
     */
    public static void main(String[] arguments) {
      System.setProperty(
          "spark.hadoop." + LocalFilesBySchemeOnly.SETTING, LocalFilesBySchemeOnly.class.getName());
      SparkStructuredStreamingPipelineOptions options =
          PipelineOptionsFactory.fromArgs(
                  "--runner=SparkStructuredStreamingRunner",
                  "--sparkMaster=local[1]",
                  "--streaming=true",
                  "--checkpointLeaseMillis=3000",
                  "--checkpointDir=" + arguments[0])
              .as(SparkStructuredStreamingPipelineOptions.class);
      Pipeline pipeline = Pipeline.create(options);
      new RecoveryPipeline("two-drivers", Path.of(arguments[1]), Set.of(), Set.of()).build(pipeline);
      try {
        pipeline.run().waitUntilFinish();
        System.out.println("It has run.");
      } catch (IllegalStateException e) {
        System.out.println("Refused: " + e.getMessage());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"file", LocalFilesBySchemeOnly.SCHEME})
  void theSecondIsRefusedAndTheFirstUnharmed(String scheme) throws Exception {
    String checkpoint = scheme + ":" + directory.resolve("checkpoint");
    String waitsAt = "r0-5";
    RecoveryPipeline pipeline = new RecoveryPipeline("two-drivers", directory, Set.of(), Set.of());
    WaitPoints points = new WaitPoints(directory.resolve("points"));
    Pipeline first =
        Pipeline.create(
            SPARK.options(
                "--checkpointDir=" + checkpoint,
                "--checkpointLeaseMillis=3000",
                "--maxRecordsPerMicroBatch=7",
                "--maxRestarts=0"));
    pipeline.build(
        first,
        records -> records.apply(points.on("wait", Set.of(waitsAt))),
        groups -> groups);
    SparkStructuredStreamingPipelineResult result =
        (SparkStructuredStreamingPipelineResult) first.run();
    try {
      Await.until("the middle of an epoch", () -> points.isReached(waitsAt), result::getState);
      Path log = directory.resolve("second.log");
      new ForkedProgram(SecondDriver.class, "512m", 2)
          .run(log, List.of(checkpoint, directory.resolve("of-second").toString()));
      String said = java.nio.file.Files.readString(log);
      assertThat(said, containsString("Refused: The checkpoint is in use by another driver (job "));
      assertThat(said, containsString("process " + ProcessHandle.current().pid() + " on "));
      points.open(waitsAt);
      RestartHarness.finish(result);
    } finally {
      result.cancel();
    }
    pipeline.assertExact();
    assertThat(result.getState().isTerminal(), is(true));
  }
}
