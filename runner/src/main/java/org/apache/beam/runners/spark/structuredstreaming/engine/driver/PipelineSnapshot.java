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

import java.time.Instant;
import org.apache.beam.sdk.PipelineResult.State;

/**
 * A pipeline at one moment, as {@link PipelineRegistry} tells it. It keeps nothing of the pipeline
 * alive.
 *
 * @param name the job name, which is the name of the query too
 * @param id of the query, the same for every run of a checkpoint; null while the pipeline is starting.
 *     A batch pipeline has one id, that of its Spark job group
 * @param runId of the query's current start; null while the pipeline is starting
 * @param checkpointLocation the checkpoint directory, qualified; null of a batch pipeline
 * @param failure why the pipeline failed; null unless it has
 * @param startTime when the pipeline was started in this driver
 * @param endTime null while it runs
 */
public record PipelineSnapshot(
    String name,
    String id,
    String runId,
    String checkpointLocation,
    State state,
    Throwable failure,
    Instant startTime,
    Instant endTime) {}
