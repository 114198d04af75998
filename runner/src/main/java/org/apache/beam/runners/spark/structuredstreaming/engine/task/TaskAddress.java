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
import java.util.UUID;

/**
 * Which work a task does.
 *
 * @param epoch Spark's batch id
 * @param partition of the level; on level 0 a number over the splits of all sources
 * @param queryRunId of the query's current start
 * @param processingTimeMillis the epoch's processing time
 * @param draining whether the pipeline drains in the epoch
 */
public record TaskAddress(
    long epoch,
    int level,
    int partition,
    UUID queryRunId,
    long processingTimeMillis,
    boolean draining)
    implements Serializable {}
