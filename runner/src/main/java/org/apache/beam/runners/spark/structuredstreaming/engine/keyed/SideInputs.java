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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.sdk.values.PCollectionView;

/**
 * The views of one level and partition during one epoch. Made by the task; views are added
 * before the runners of the steps that read them.
 */
public final class SideInputs {
  private final MaterializedViews materialized;
  private final Map<PCollectionView<?>, ReadableView> views = new LinkedHashMap<>();

  public SideInputs(MaterializedViews materialized) {
    this.materialized = Objects.requireNonNull(materialized, "materialized");
  }

  MaterializedViews materialized() {
    return materialized;
  }

  /** Adds a view, before the runners of the steps that read it are made. */
  public void add(ReadableView view) {
    views.put(view.view(), view);
  }

  /**
   * What a step reads.
   *
   * @param clock the step's watermarks; its input watermark is one that waiting elements hold
   */
  StepSideInputs of(
      KeyedStep step, Collection<PCollectionView<?>> viewsOfStep, StepWatermarks clock) {
    Map<PCollectionView<?>, ReadableView> chosen = new LinkedHashMap<>();
    for (PCollectionView<?> view : viewsOfStep) {
      ReadableView readable = views.get(view);
      if (readable == null) {
        throw new IllegalStateException(
            step.fullName() + " reads " + view + ", which its level does not keep");
      }
      chosen.put(view, readable);
    }
    return new StepSideInputs(step, chosen, clock);
  }
}
