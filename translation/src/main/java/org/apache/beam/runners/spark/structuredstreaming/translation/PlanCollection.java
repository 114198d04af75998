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
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.WindowedValues.FullWindowedValueCoder;
import org.apache.beam.sdk.values.WindowingStrategy;

/**
 * A PCollection as the engine needs it: its place in the plan, its name, how its elements are coded
 * and windowed. Two are equal when they have the same index in the same plan.
 */
public final class PlanCollection implements Serializable {
  private final int index;
  private final String name;
  private final Coder<?> coder;
  private final WindowingStrategy<?, ?> windowingStrategy;

  /**
   * @param index position among the plan's collections, from 0
   * @param name the PCollection's full name
   * @param coder null if there is none, which is fine as long as the collection is neither shuffled
   *     nor kept in state
   */
  public PlanCollection(
      int index,
      String name,
      Coder<?> coder,
      WindowingStrategy<?, ?> windowingStrategy) {
    this.index = index;
    this.name = Objects.requireNonNull(name, "name");
    this.coder = coder;
    this.windowingStrategy = Objects.requireNonNull(windowingStrategy, "windowingStrategy");
  }

  public int index() {
    return index;
  }

  public String name() {
    return name;
  }

  /** Whether elements of this collection can be encoded. */
  public boolean hasCoder() {
    return coder != null;
  }

  /**
   * Coder of the elements' values.
   *
   * @throws IllegalStateException when there is none; the translation of a pipeline makes sure that
   *     there is one for whatever is shuffled
   */
  public Coder<?> coder() {
    if (coder == null) {
      throw new IllegalStateException(
          "PCollection " + name + " has no coder: call setCoder on it where it is made.");
    }
    return coder;
  }

  public WindowingStrategy<?, ?> windowingStrategy() {
    return windowingStrategy;
  }

  /** Coder of the windows this collection's elements are in. */
  @SuppressWarnings("unchecked") // a strategy's windows are all of its WindowFn's window type
  public Coder<BoundedWindow> windowCoder() {
    return (Coder<BoundedWindow>) windowingStrategy.getWindowFn().windowCoder();
  }

  /** Coder of a whole element: value, timestamp, windows and pane. */
  @SuppressWarnings("unchecked") // the element type is erased in the plan
  public FullWindowedValueCoder<Object> windowedValueCoder() {
    return FullWindowedValueCoder.of((Coder<Object>) coder(), windowCoder());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PlanCollection collection && collection.index == index;
  }

  @Override
  public int hashCode() {
    return index;
  }

  @Override
  public String toString() {
    return name;
  }
}
