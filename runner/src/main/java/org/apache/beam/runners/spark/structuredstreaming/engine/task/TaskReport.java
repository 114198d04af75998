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
import java.util.List;
import org.apache.beam.runners.core.metrics.MetricsContainerStepMap;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepStatistics;

/**
 * What one attempt of a task tells the driver. Of several attempts for the same epoch, level and
 * partition the last successful one counts, as Spark uses the output of that one.
 *
 * @param attempt Spark's task attempt id, which grows with time
 * @param succeeded false for an attempt that failed: it adds to attempted metrics only
 * @param source what was read, null but on level 0
 * @param steps the level's keyed steps, empty on level 0
 * @param asksForCallbacks whether its bundles have asked to be called back for their commit
 */
public record TaskReport(
    long epoch,
    int level,
    int partition,
    long attempt,
    boolean succeeded,
    SourceReport source,
    List<StepStatistics> steps,
    boolean asksForCallbacks,
    MetricsContainerStepMap metrics)
    implements Serializable {}
