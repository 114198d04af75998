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
package org.apache.beam.runners.spark.structuredstreaming;

import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.PipelineRunner;
import org.apache.beam.sdk.options.PipelineOptions;

/**
 * Runs test pipelines: starts a pipeline with the {@link SparkStructuredStreamingRunner} and waits
 * for its end, as Beam's {@code TestPipeline} expects of a runner.
 *
 * <p>The pipeline keeps the Spark session for the tests that follow, as with {@code
 * --testMode=true}, and is not started again once it has failed: a failure that went away by itself
 * would make a wrong test pass.
 */
public final class TestSparkStructuredStreamingRunner
    extends PipelineRunner<SparkStructuredStreamingPipelineResult> {
  private final SparkStructuredStreamingRunner delegate;

  private TestSparkStructuredStreamingRunner(SparkStructuredStreamingRunner delegate) {
    this.delegate = delegate;
  }

  /** Called by Beam to make the runner that {@code --runner} names. */
  public static TestSparkStructuredStreamingRunner fromOptions(PipelineOptions options) {
    SparkStructuredStreamingPipelineOptions testOptions =
        options.as(SparkStructuredStreamingPipelineOptions.class);
    testOptions.setTestMode(true);
    testOptions.setMaxRestarts(0);
    return new TestSparkStructuredStreamingRunner(
        SparkStructuredStreamingRunner.fromOptions(testOptions));
  }

  /**
   * Runs the pipeline to its end.
   *
   * @return the result of a pipeline that is {@link State#DONE}
   * @throws AssertionError if an assertion of the pipeline failed: the very error that it threw
   * @throws PipelineExecutionException if the pipeline failed otherwise, with the user's exception as
   *     its cause where the user's code failed
   * @throws IllegalStateException if the pipeline was cancelled, or the calling thread interrupted
   */
  @Override
  public SparkStructuredStreamingPipelineResult run(Pipeline pipeline) {
    SparkStructuredStreamingPipelineResult result = delegate.run(pipeline);
    State state = awaitEnd(result);
    if (state != State.DONE) {
      throw new IllegalStateException(
          "The test pipeline " + pipeline.getOptions().getJobName() + " has not come to its end, it is "
              + result.getState() + ".");
    }
    return result;
  }

  private static State awaitEnd(SparkStructuredStreamingPipelineResult result) {
    try {
      return result.waitUntilFinish();
    } catch (PipelineExecutionException e) {
      if (e.getCause() instanceof AssertionError failedAssertion) {
        throw failedAssertion;
      }
      throw e;
    }
  }

  @Override
  public String toString() {
    return "TestSparkStructuredStreamingRunner";
  }
}
