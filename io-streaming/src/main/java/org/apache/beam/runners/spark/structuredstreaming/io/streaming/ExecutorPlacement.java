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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import java.util.List;
import org.apache.spark.scheduler.ExecutorCacheTaskLocation;

/**
 * Which executor a split prefers. With {@code n} live executors, sorted, split {@code s} of source
 * {@code id} prefers number {@code (hash(id) + s) mod n}: the same from epoch to epoch as long as the
 * executors are the same, so that a split finds its reader again, and even over the executors.
 */
final class ExecutorPlacement {
  private static final String[] ANYWHERE = new String[0];

  private final List<String> executors;

  ExecutorPlacement(List<String> executors) {
    this.executors = List.copyOf(executors);
  }

  /** The placement over the executors that live now; anywhere in local mode. Driver only. */
  static ExecutorPlacement live() {
    return new ExecutorPlacement(
        LiveExecutors.places().stream().map(ExecutorCacheTaskLocation::toString).toList());
  }

  /** Spark's name of the preferred executor, or none. */
  String[] preferredLocations(long stableId, int splitId) {
    if (executors.isEmpty()) {
      return ANYWHERE;
    }
    int position = Math.floorMod(Long.hashCode(stableId) + (long) splitId, executors.size());
    return new String[] {executors.get(position)};
  }
}
