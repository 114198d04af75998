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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.apache.beam.runners.core.SideInputReader;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LevelGraph;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.ReadableView;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.SideInputs;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EngineRuntime;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.ParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Step;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.PCollectionView;

/** The views that the steps of one task read. They are complete before the task begins. */
final class TaskViews {
  private final Map<PCollectionView<?>, CompleteView> views = new LinkedHashMap<>();

  /** Fetches what the level reads, as far as the executor does not have it. */
  TaskViews(EngineRuntime runtime, Level level, ViewBlocks blocks) {
    Set<PCollectionView<?>> read = new HashSet<>();
    level.fused().forEach(step -> read.addAll(viewsOf(step)));
    level.roots().forEach(step -> read.addAll(viewsOf(step)));
    if (read.isEmpty()) {
      return;
    }
    ExecutorViews ofExecutor = runtime.shared(ExecutorViews.class, ExecutorViews::new);
    long memoryBytes =
        runtime.options().as(SparkStructuredStreamingPipelineOptions.class).getSideInputMemoryBytes();
    for (Step step : runtime.plan().steps()) {
      if (step instanceof ViewStep view && read.contains(view.view())) {
        StoredView stored = ofExecutor.view(view, runtime, memoryBytes, blocks);
        views.put(view.view(), new CompleteView(view, stored));
      }
    }
  }

  private static Collection<PCollectionView<?>> viewsOf(Step step) {
    if (step instanceof ParDoStep parDo) {
      return parDo.spec().sideInputs().values();
    }
    return step instanceof KeyedParDoStep parDo ? parDo.spec().sideInputs().values() : Set.of();
  }

  /** Lets all fused DoFns of a graph read what they were given. */
  void bind(LevelGraph graph) {
    graph.bindSideInputs(this::reader);
  }

  /** Lets the steps that are no fused ones read what they were given. */
  void addTo(SideInputs sideInputs) {
    views.values().forEach(sideInputs::add);
  }

  private SideInputReader reader(String fullName, Collection<PCollectionView<?>> ofStep) {
    Map<PCollectionView<?>, CompleteView> chosen = new HashMap<>();
    for (PCollectionView<?> view : ofStep) {
      CompleteView found = views.get(view);
      if (found == null) {
        throw new IllegalStateException(fullName + " reads " + view + ", which its plan does not keep");
      }
      chosen.put(view, found);
    }
    return new Reader(chosen);
  }

  private record Reader(Map<PCollectionView<?>, CompleteView> views) implements SideInputReader {
    @Override
    @SuppressWarnings("unchecked") // made by the view's own ViewFn
    public <T> T get(PCollectionView<T> view, BoundedWindow window) {
      // Beam has asked whether there is one.
      return (T) views.get(view).get(window);
    }

    @Override
    public <T> boolean contains(PCollectionView<T> view) {
      return views.containsKey(view);
    }

    @Override
    public boolean isEmpty() {
      return views.isEmpty();
    }
  }

  /** A view for one task, with what it has looked up last: elements come in runs of one window. */
  private static final class CompleteView implements ReadableView {
    private final ViewStep step;
    private final StoredView stored;
    private BoundedWindow lastWindow;
    private Object last;

    CompleteView(ViewStep step, StoredView stored) {
      this.step = step;
      this.stored = stored;
    }

    @Override
    public PCollectionView<?> view() {
      return step.view();
    }

    @Override
    public String fullName() {
      return step.fullName();
    }

    @Override
    public boolean isReady(BoundedWindow window) {
      return true;
    }

    @Override
    public boolean isCollected(BoundedWindow window) {
      return false;
    }

    @Override
    public Object get(BoundedWindow window) {
      if (!window.equals(lastWindow)) {
        last = stored.get(window);
        lastWindow = window;
      }
      return last;
    }

    /** Nothing goes before the task does. */
    @Override
    public void addConsumer(LongSupplier firstMainEnd) {}
  }
}
