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

import java.util.HashMap;
import java.util.Map;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;

/** The views of a pipeline by their tags, and the steps that keep them, by level. */
final class PlanViews {
  private final Map<TupleTag<?>, Definition> definitions = new HashMap<>();

  /** A view as it was defined. */
  private static final class Definition {
    private final String fullName;
    private final PCollectionView<?> view;
    private final PlanCollection panes;
    private final Map<Integer, ViewStep> byLevel = new HashMap<>();

    Definition(String fullName, PCollectionView<?> view, PlanCollection panes) {
      this.fullName = fullName;
      this.view = view;
      this.panes = panes;
    }
  }

  /**
   * @param fullName of the transform that makes the view
   */
  void define(String fullName, PCollectionView<?> view, PlanCollection panes) {
    definitions.put(ViewParts.tag(view), new Definition(fullName, view, panes));
  }

  boolean isDefined(TupleTag<?> tag) {
    return definitions.containsKey(tag);
  }

  /** The collection of a view's panes, one grouping of all elements each. */
  PlanCollection panes(PCollectionView<?> view) {
    return definition(view).panes;
  }

  /**
   * Sees to it that a view is kept on a level; in a batch plan on the first it can be kept on, which
   * serves all above.
   */
  void keep(PCollectionView<?> view, int readingLevel, PlanBuilder builder) {
    Definition definition = definition(view);
    int level = builder.isStreaming() ? readingLevel : builder.levelBehind(definition.panes);
    if (!definition.byLevel.containsKey(level)) {
      ViewStep step =
          new ViewStep(
              builder.nextStepIndex(),
              definition.fullName + " (level " + level + ")",
              level,
              definition.view,
              definition.panes);
      builder.add(step);
      definition.byLevel.put(level, step);
    }
  }

  private Definition definition(PCollectionView<?> view) {
    Definition definition = definitions.get(ViewParts.tag(view));
    if (definition == null) {
      throw new IllegalStateException("No transform has made the view " + view + ".");
    }
    return definition;
  }
}
