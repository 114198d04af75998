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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A pipeline that is scaled by load asks for executors, and gets no answer. */
@Timeout(120)
class SilentClusterManagerTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on(SilentClusterManager.MASTER);

  @TempDir Path directory;

  @Test
  void epochsGoOn() throws InterruptedException {
    Pipeline pipeline =
        Pipeline.create(
            SPARK.options(
                "--jobName=unanswered",
                "--checkpointDir=" + directory.resolve("checkpoint"),
                "--maxRestarts=0",
                "--filesToStage=",
                "--triggerIntervalMillis=50",
                "--maxBatchDurationMillis=50",
                "--dynamicAllocation=true",
                "--dynamicAllocationScalingIntervalMillis=200",
                "--dynamicAllocationMinExecutors=2"));
    pipeline.apply(Script.read("unanswered", Script.split().at(1, "a").idle()));
    SparkStructuredStreamingPipelineResult result =
        (SparkStructuredStreamingPipelineResult) pipeline.run();
    try {
      SilentClusterManager.awaitAsked();
      long epoch = result.progress().epoch();
      Await.until(
          "ten more epochs",
          60,
          () -> result.progress().epoch() > epoch + 10 || result.getState().isTerminal(),
          result::getState);
      assertThat(result.getState(), is(State.RUNNING));
      assertThat(result.cancel(), is(State.CANCELLED));
    } finally {
      SilentClusterManager.answer();
      result.cancel();
    }
  }
}
