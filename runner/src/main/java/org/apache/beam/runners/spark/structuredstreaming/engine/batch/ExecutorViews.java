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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EngineRuntime;
import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;

/**
 * The views that tasks of one run have read on this executor. The first task that needs one fetches it
 * out of the shuffle, where it was written once; the others find it here.
 *
 * <p>What is found is what the task would read itself: a view is known by the task attempts that have
 * written it. When Spark runs those again, as after the loss of an executor, it is fetched anew. Closed
 * with the run. Thread-safe.
 */
final class ExecutorViews implements Closeable {
  private final Map<Integer, Slot> slots = new HashMap<>();
  private final List<StoredView> fetched = new ArrayList<>();
  private boolean closed;

  private static final class Slot {
    private List<List<Long>> writers;
    private StoredView view;
  }

  /**
   * A view, with all its panes.
   *
   * @param blocks for the calling task to read it from
   */
  StoredView view(ViewStep step, EngineRuntime runtime, long memoryBytes, ViewBlocks blocks) {
    List<Edge> edges =
        runtime.plan().edges().stream()
            .filter(edge -> edge.target().index() == step.index())
            .toList();
    List<List<Long>> writers = edges.stream().map(blocks::writers).toList();
    Slot slot;
    synchronized (this) {
      slot = slots.computeIfAbsent(step.index(), index -> new Slot());
    }
    synchronized (slot) {
      if (slot.view == null || !slot.writers.equals(writers)) {
        slot.view = fetch(step, runtime, memoryBytes, edges, blocks);
        slot.writers = writers;
      }
      return slot.view;
    }
  }

  private StoredView fetch(
      ViewStep step,
      EngineRuntime runtime,
      long memoryBytes,
      List<Edge> edges,
      ViewBlocks blocks) {
    StoredView view =
        new StoredView(
            step, runtime.materializedViews(), runtime.plan().edges().size(), memoryBytes);
    keep(view);
    for (Edge edge : edges) {
      try {
        view.read(blocks.read(edge));
      } catch (IOException e) {
        throw new StepFailedException(step.fullName(), "reading the view out of the shuffle", e);
      }
    }
    return view;
  }

  /** One that was replaced stays too: a task that is being killed may still read it. */
  private synchronized void keep(StoredView view) {
    if (closed) {
      throw new IllegalStateException("The run is over: its views are gone.");
    }
    fetched.add(view);
  }

  @Override
  public synchronized void close() throws IOException {
    closed = true;
    for (StoredView view : fetched) {
      view.close();
    }
    fetched.clear();
    slots.clear();
  }
}
