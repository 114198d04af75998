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
import java.util.Objects;

/**
 * The way from a level to a keyed step on a higher one: elements of {@code collection} that are
 * produced on {@code fromLevel} are shuffled to {@code target}. A keyed step whose input comes from
 * several levels (by a Flatten) has one incoming edge from each.
 */
public final class Edge implements Serializable {
  private final int index;
  private final int fromLevel;
  private final PlanCollection collection;
  private final KeyedStep target;

  /**
   * @param index position among the plan's edges, from 0: what shuffle records name the edge by
   */
  public Edge(int index, int fromLevel, PlanCollection collection, KeyedStep target) {
    this.index = index;
    this.fromLevel = fromLevel;
    this.collection = Objects.requireNonNull(collection, "collection");
    this.target = Objects.requireNonNull(target, "target");
    if (fromLevel < 0 || fromLevel >= target.level()) {
      throw new IllegalArgumentException(
          target + " on level " + target.level() + " cannot be fed from level " + fromLevel);
    }
  }

  public int index() {
    return index;
  }

  public int fromLevel() {
    return fromLevel;
  }

  public PlanCollection collection() {
    return collection;
  }

  public KeyedStep target() {
    return target;
  }

  public int toLevel() {
    return target.level();
  }
}
