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
package org.apache.beam.runners.spark.structuredstreaming.engine.task;

import java.io.Serializable;
import java.util.Objects;
import org.apache.beam.runners.core.construction.SerializablePipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ShippedObject;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.UnreadableObjectException;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.sdk.util.SerializableUtils;

/**
 * All that a task needs to know and that stays the same while a query runs: broadcast once. The
 * plan is kept as bytes so that Spark's own serializer, whichever is set, does not meet user code.
 */
public final class EngineSetup implements Serializable {
  private final String runKey;
  private final byte[] plan;
  private final SerializablePipelineOptions options;
  private final int parallelism;
  private final String checkpointLocation;
  private final StateSetup state;
  private final long idleTimeoutMillis;

  /**
   * @param runKey unique for every start of the query: what executors file live objects under
   * @param parallelism partitions of every level but 0, fixed for the life of the checkpoint
   * @param checkpointLocation root of the checkpoint; null if there is none
   * @param state null if there are no state stores
   * @param idleTimeoutMillis how long DoFns that no task uses stay set up
   */
  public EngineSetup(
      String runKey,
      Plan plan,
      SerializablePipelineOptions options,
      int parallelism,
      String checkpointLocation,
      StateSetup state,
      long idleTimeoutMillis) {
    this.runKey = Objects.requireNonNull(runKey, "runKey");
    this.plan = SerializableUtils.serializeToByteArray(plan);
    this.options = Objects.requireNonNull(options, "options");
    this.parallelism = parallelism;
    this.checkpointLocation = checkpointLocation;
    this.state = state;
    this.idleTimeoutMillis = idleTimeoutMillis;
  }

  public String runKey() {
    return runKey;
  }

  /**
   * Decodes the plan; done once a JVM.
   *
   * @throws UnreadableObjectException if it cannot be read
   */
  Plan decodePlan() {
    return (Plan)
        ShippedObject.decode(plan, "The plan of pipeline " + options.get().getJobName());
  }

  SerializablePipelineOptions options() {
    return options;
  }

  public int parallelism() {
    return parallelism;
  }

  String checkpointLocation() {
    return checkpointLocation;
  }

  StateSetup state() {
    return state;
  }

  long idleTimeoutMillis() {
    return idleTimeoutMillis;
  }
}
