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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import java.time.Duration;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;

/**
 * A pipeline that has been started, by whichever engine. Any thread may call any method.
 */
public interface RunningPipeline {
  /** The name of the pipeline, its job name. */
  String name();

  State state();

  /**
   * The failure for whoever waits for the pipeline, with the user's own exception as its cause. Only
   * of a pipeline that has failed.
   */
  PipelineExecutionException executionException();

  PipelineMetrics metrics();

  PipelineSnapshot snapshot();

  /** Asks the pipeline to end. Returns at once. */
  void stop();

  /**
   * Waits for the pipeline's end.
   *
   * @param limit how long at most, null for ever
   * @return the final state, or null if it goes on
   * @throws InterruptedException if the waiting thread is interrupted; the pipeline goes on
   */
  State awaitEnd(Duration limit) throws InterruptedException;

  /**
   * What no two running pipelines may share, the same for every spelling of the checkpoint directory;
   * null for a pipeline that has none.
   */
  String checkpointIdentity();
}
