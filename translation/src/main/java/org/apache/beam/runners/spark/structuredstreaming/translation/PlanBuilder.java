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

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.apache.beam.sdk.values.PCollection;

/**
 * Collects steps in topological order and lays them out on levels.
 *
 * <p>{@code levels(collection)} is the set of levels that carry a collection:
 *
 * <ul>
 *   <li>{@code {level(step)}} for the output of a read, in a streaming plan {@code {0}},
 *   <li>{@code {level(step)}} for the output of a keyed step, where {@code level(step) = 1 +
 *       max(levels(input))},
 *   <li>the union of {@code levels(input)} over all inputs for the output of a fused step, which is
 *       executed on each of these levels.
 * </ul>
 *
 * <p>A step that reads views stands on {@code 1 + max(levels(input), levels(panes of its views))},
 * and so do the {@link ViewStep}s that keep them for it.
 *
 * <p>In a batch plan the steps that read views are fused where they can be, and reads and keyed steps
 * are put off for that: to {@code 1 + max(levels(panes))} over the views that are read right behind
 * them ({@link LateRoots}).
 *
 * <p>So {@code levels} is never empty and levels have no gaps: a step on level {@code k > 0} has an
 * input, or a view is read by it or right behind it with panes, that level {@code k - 1} carries, and
 * what a level carries stems from one of its roots.
 *
 * <p>All indexes are given out in the order of the calls.
 */
final class PlanBuilder {
  private final boolean streaming;
  private final List<PlanCollection> collections = new ArrayList<>();
  private final Map<PCollection<?>, PlanCollection> byPCollection = new HashMap<>();
  private final List<NavigableSet<Integer>> levelsByCollection = new ArrayList<>();
  private final PlanViews views = new PlanViews();
  private final List<Step> steps = new ArrayList<>();
  private final List<ReadStep> sources = new ArrayList<>();

  /**
   * @param streaming whether the plan is for the streaming engine
   */
  PlanBuilder(boolean streaming) {
    this.streaming = streaming;
  }

  boolean isStreaming() {
    return streaming;
  }

  /** The index that the next step added has to have. */
  int nextStepIndex() {
    return steps.size();
  }

  /** The index that the next source added has to have. */
  int nextSourceIndex() {
    return sources.size();
  }

  /**
   * The collection of a PCollection that a translated transform has produced.
   *
   * @throws IllegalStateException when none has
   */
  PlanCollection collection(PCollection<?> pCollection) {
    PlanCollection collection = byPCollection.get(pCollection);
    if (collection == null) {
      throw new IllegalStateException(
          "PCollection " + pCollection.getName() + " is used before a transform has produced it.");
    }
    return collection;
  }

  boolean isDefined(PCollection<?> pCollection) {
    return byPCollection.containsKey(pCollection);
  }

  /** Makes the collection of a PCollection that the next step added will produce. */
  PlanCollection define(PCollection<?> pCollection, PlanCollection collection) {
    if (byPCollection.containsKey(pCollection)) {
      throw new IllegalStateException(
          "PCollection " + pCollection.getName() + " is produced by two transforms.");
    }
    byPCollection.put(pCollection, collection);
    return define(collection);
  }

  /**
   * Makes a collection between two steps of one transform: no PCollection stands for it. The next
   * step added will produce it.
   */
  PlanCollection define(PlanCollection collection) {
    if (collection.index() != collections.size()) {
      throw new IllegalStateException(
          collection + " has index " + collection.index() + ", but is collection "
              + collections.size());
    }
    collections.add(collection);
    levelsByCollection.add(new TreeSet<>());
    return collection;
  }

  int nextCollectionIndex() {
    return collections.size();
  }

  /** The level that a keyed step with this input stands on. */
  int levelBehind(PlanCollection input) {
    return levels(input).last() + 1;
  }

  /** The levels that carry a collection, lowest first. */
  NavigableSet<Integer> levels(PlanCollection collection) {
    NavigableSet<Integer> levels = levelsByCollection.get(collection.index());
    if (levels.isEmpty()) {
      throw new IllegalStateException("No step that produces " + collection + " has been added.");
    }
    return levels;
  }

  /** The views defined so far. */
  PlanViews views() {
    return views;
  }

  /** Adds a step behind the steps that produce its inputs. */
  void add(Step step) {
    if (step.index() != steps.size()) {
      throw new IllegalStateException(
          step + " has index " + step.index() + ", but is step " + steps.size());
    }
    NavigableSet<Integer> levels = levelsOf(step);
    steps.add(step);
    if (step instanceof ReadStep read) {
      sources.add(read);
    }
    for (PlanCollection output : step.outputs()) {
      carry(output, levels);
    }
  }

  /** Says which levels carry a collection that no step produces, because it was refused. */
  void carry(PlanCollection collection, NavigableSet<Integer> levels) {
    levelsByCollection.get(collection.index()).addAll(levels);
  }

  private NavigableSet<Integer> levelsOf(Step step) {
    NavigableSet<Integer> levels = new TreeSet<>();
    if (step instanceof ReadStep read) {
      levels.add(read.level());
    } else if (step instanceof KeyedStep keyed) {
      levels.add(keyed.level());
    } else {
      for (PlanCollection input : step.inputs()) {
        levels.addAll(levels(input));
      }
    }
    return levels;
  }

  Plan build() {
    spaceTestStreams();
    List<Edge> edges = edges();
    int levelCount = 1;
    for (Step step : steps) {
      levelCount = Math.max(levelCount, levelsOf(step).last() + 1);
    }
    List<Level> levels = new ArrayList<>();
    for (int number = 0; number < levelCount; number++) {
      levels.add(level(number, edges));
    }
    return new Plan(collections, steps, levels, edges, sources, streaming);
  }

  /**
   * Gives the events of TestStreams as many epochs as it takes an element to come through the
   * pipeline: one, and one for each delaying step on its way.
   */
  private void spaceTestStreams() {
    int period = 1 + longestDelay();
    steps.replaceAll(
        step ->
            step instanceof ReadStep read && read.source() instanceof TestStreamSource<?> stream
                ? read.withSource(stream.withPeriod(period))
                : step);
    sources.replaceAll(read -> (ReadStep) steps.get(read.index()));
  }

  /** The most delaying steps that there are on one way through the pipeline. */
  private int longestDelay() {
    int longest = 0;
    int[] delays = new int[collections.size()];
    for (Step step : steps) {
      int delay = 0;
      for (PlanCollection input : step.inputs()) {
        delay = Math.max(delay, delays[input.index()]);
      }
      if (step instanceof KeyedStep keyed && keyed.isDelaying()) {
        delay++;
      }
      for (PlanCollection output : step.outputs()) {
        delays[output.index()] = delay;
      }
      longest = Math.max(longest, delay);
    }
    return longest;
  }

  /** One edge per keyed step and level that carries its input, by step, then level. */
  private List<Edge> edges() {
    List<Edge> edges = new ArrayList<>();
    for (Step step : steps) {
      if (step instanceof KeyedStep target) {
        for (int from : levels(target.input())) {
          edges.add(new Edge(edges.size(), from, target.input(), target));
        }
      }
    }
    return edges;
  }

  private Level level(int number, List<Edge> edges) {
    List<Step> roots = new ArrayList<>();
    List<Step> fused = new ArrayList<>();
    // In front of the other roots: whoever reads a view of the level comes behind it.
    steps.stream()
        .filter(step -> step instanceof ViewStep && levelsOf(step).contains(number))
        .forEach(roots::add);
    for (Step step : steps) {
      if (!(step instanceof ViewStep) && levelsOf(step).contains(number)) {
        boolean isRoot = step instanceof ReadStep || step instanceof KeyedStep;
        (isRoot ? roots : fused).add(step);
      }
    }
    return new Level(
        number,
        roots,
        fused,
        edges.stream().filter(edge -> edge.fromLevel() == number).toList(),
        edges.stream().filter(edge -> edge.toLevel() == number).toList());
  }
}
