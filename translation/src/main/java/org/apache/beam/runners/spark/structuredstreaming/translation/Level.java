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
import java.util.List;

/**
 * The work between two shuffles: roots, the steps fused behind them, and the edges that leave.
 * Each task reads one split of one {@link ReadStep} among the roots, or runs one partition of all the
 * {@link KeyedStep}s. In a streaming plan all reads stand on level 0; in a batch plan one stands on the
 * first level on which the views exist that are read right behind it. Keyed steps stand on level 1 and
 * above.
 */
public final class Level implements Serializable {
  private final int number;
  private final List<Step> roots;
  private final List<Step> fused;
  private final List<Edge> outgoing;
  private final List<Edge> incoming;

  /**
   * @param fused the fused steps that this level carries, each behind its producers
   * @param outgoing edges that leave this level
   * @param incoming edges that end in this level's roots
   */
  public Level(
      int number, List<Step> roots, List<Step> fused, List<Edge> outgoing, List<Edge> incoming) {
    this.number = number;
    this.roots = List.copyOf(roots);
    this.fused = List.copyOf(fused);
    this.outgoing = List.copyOf(outgoing);
    this.incoming = List.copyOf(incoming);
  }

  public int number() {
    return number;
  }

  public List<Step> roots() {
    return roots;
  }

  public List<Step> fused() {
    return fused;
  }

  public List<Edge> outgoing() {
    return outgoing;
  }

  public List<Edge> incoming() {
    return incoming;
  }
}
