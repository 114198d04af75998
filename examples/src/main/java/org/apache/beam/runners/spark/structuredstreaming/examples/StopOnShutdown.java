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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import java.util.concurrent.TimeUnit;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.hadoop.util.ShutdownHookManager;

/**
 * Ends a pipeline in good order when the JVM is asked to end, as by Ctrl-C: the running epoch is
 * finished and committed. The JVM's hooks run at the same time as Spark's own, which would stop Spark
 * under the epoch; Hadoop's, among which Spark's is, run by priority.
 */
final class StopOnShutdown {
  private static final int BEFORE_SPARK = 1000;
  private static final long MOST_SECONDS = 30;

  private StopOnShutdown() {}

  static void register(SparkStructuredStreamingPipelineResult result, Runnable whenStopped) {
    ShutdownHookManager.get()
        .addShutdownHook(
            () -> {
              if (result.getState() == State.RUNNING && result.cancel() == State.CANCELLED) {
                whenStopped.run();
              }
            },
            BEFORE_SPARK,
            MOST_SECONDS,
            TimeUnit.SECONDS);
  }
}
