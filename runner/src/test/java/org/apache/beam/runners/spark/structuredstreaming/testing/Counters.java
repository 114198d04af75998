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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.util.stream.StreamSupport;
import org.apache.beam.sdk.PipelineResult;
import org.apache.beam.sdk.metrics.MetricsFilter;

/** Committed counters of a pipeline. */
public final class Counters {
  private Counters() {}

  /** Elements that the pipeline dropped for being late, over all of its steps. */
  public static long droppedDueToLateness(PipelineResult result) {
    return committed(result, "droppedDueToLateness");
  }

  /** Sum of all counters of a name. */
  public static long committed(PipelineResult result, String name) {
    return StreamSupport.stream(
            result
                .metrics()
                .queryMetrics(MetricsFilter.builder().build())
                .getCounters()
                .spliterator(),
            false)
        .filter(counter -> counter.getName().getName().equals(name))
        .mapToLong(counter -> counter.getCommitted())
        .sum();
  }
}
