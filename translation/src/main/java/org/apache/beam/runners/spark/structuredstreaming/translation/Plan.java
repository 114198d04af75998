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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * The immutable, serializable result of translating a pipeline. It holds no Spark type and nothing
 * that only the driver has.
 *
 * <p>Invariants: there is at least one level, and levels are numbered by their position; steps are
 * in topological order; a level produces every collection that its edges and the fused steps on it
 * read, but of a Flatten's inputs perhaps only some, at least one; every edge goes upwards; stable
 * ids are unique.
 */
public final class Plan implements Serializable {
  private final List<PlanCollection> collections;
  private final List<Step> steps;
  private final List<Level> levels;
  private final List<Edge> edges;
  private final List<ReadStep> sources;
  private final boolean streaming;

  /**
   * @param streaming whether the streaming engine runs it, epoch by epoch
   */
  public Plan(
      List<PlanCollection> collections,
      List<Step> steps,
      List<Level> levels,
      List<Edge> edges,
      List<ReadStep> sources,
      boolean streaming) {
    this.collections = List.copyOf(collections);
    this.steps = List.copyOf(steps);
    this.levels = List.copyOf(levels);
    this.edges = List.copyOf(edges);
    this.sources = List.copyOf(sources);
    this.streaming = streaming;
  }

  public List<PlanCollection> collections() {
    return collections;
  }

  public List<Step> steps() {
    return steps;
  }

  public List<Level> levels() {
    return levels;
  }

  public List<Edge> edges() {
    return edges;
  }

  /** The sources in the order of {@link ReadStep#sourceIndex()}. */
  public List<ReadStep> sources() {
    return sources;
  }

  /** Whether the streaming engine runs it; else it is laid out for the batch engine. */
  public boolean isStreaming() {
    return streaming;
  }

  /** The TestStreams among the sources. */
  public List<TestStreamSource<?>> testStreams() {
    List<TestStreamSource<?>> streams = new ArrayList<>();
    for (ReadStep read : sources) {
      if (read.source() instanceof TestStreamSource<?> stream) {
        streams.add(stream);
      }
    }
    return List.copyOf(streams);
  }

  /** The levels with their steps and edges as text, for logs: the same for the same pipeline. */
  public String describe() {
    return PlanDescription.of(this);
  }
}
