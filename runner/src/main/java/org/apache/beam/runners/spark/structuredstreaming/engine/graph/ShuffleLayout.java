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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;

/**
 * Which reduce partitions the shuffle has that a level writes. With {@code L} levels of {@code N}
 * partitions, level {@code j} writes
 *
 * <pre>
 * (k - j - 1) * N + p     for partition p of level k > j
 * (L - j - 1) * N + v     in a batch plan, for the v-th edge from j to a view, which is written once
 *                         and read by whichever executor needs it
 * </pre>
 */
public final class ShuffleLayout {
  private final Plan plan;
  private final int parallelism;

  /**
   * @param parallelism partitions of every level that has a shuffle in front of it
   */
  public ShuffleLayout(Plan plan, int parallelism) {
    this.plan = plan;
    this.parallelism = parallelism;
  }

  /** Reduce partitions of what {@code level} writes; at least one, as Spark has it. */
  public int partitions(int level) {
    return Math.max(1, firstOfViews(level) + viewEdges(level));
  }

  /** The reduce partition of level {@code from} that partition 0 of level {@code to} reads. */
  public int first(int from, int to) {
    return (to - from - 1) * parallelism;
  }

  /** Whether what goes over an edge is written once, for all partitions of all levels above. */
  public boolean isWrittenOnce(Edge edge) {
    return !plan.isStreaming() && edge.target() instanceof ViewStep;
  }

  /** The reduce partition of an edge that {@link #isWrittenOnce}. */
  public int ofView(Edge edge) {
    int number = 0;
    for (Edge other : plan.levels().get(edge.fromLevel()).outgoing()) {
      if (other.index() == edge.index()) {
        return firstOfViews(edge.fromLevel()) + number;
      }
      if (isWrittenOnce(other)) {
        number++;
      }
    }
    throw new IllegalArgumentException(edge.target() + " is not fed from level " + edge.fromLevel());
  }

  private int firstOfViews(int level) {
    return first(level, plan.levels().size());
  }

  private int viewEdges(int level) {
    return (int) plan.levels().get(level).outgoing().stream().filter(this::isWrittenOnce).count();
  }
}
