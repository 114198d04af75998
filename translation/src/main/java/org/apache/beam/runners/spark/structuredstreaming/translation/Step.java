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
import java.util.Objects;

/**
 * One primitive transform of the pipeline, translated. Immutable and serializable.
 *
 * <p>A step is either <em>fused</em> into every level that carries its input ({@link ParDoStep},
 * {@link AssignWindowsStep}, {@link FlattenStep}), or the <em>root</em> of the work on a level:
 * {@link ReadStep} on level 0, {@link KeyedStep} on a level of its own behind a shuffle.
 */
public abstract sealed class Step implements Serializable
    permits ReadStep, ParDoStep, AssignWindowsStep, FlattenStep, KeyedStep {
  private final int index;
  private final String fullName;
  private final List<PlanCollection> inputs;
  private final List<PlanCollection> outputs;

  Step(int index, String fullName, List<PlanCollection> inputs, List<PlanCollection> outputs) {
    this.index = index;
    this.fullName = Objects.requireNonNull(fullName, "fullName");
    this.inputs = List.copyOf(inputs);
    this.outputs = List.copyOf(outputs);
  }

  /** Position among the plan's steps, from 0, in topological order. Changes with the pipeline. */
  public final int index() {
    return index;
  }

  /** The transform's full name, unique in the pipeline. */
  public final String fullName() {
    return fullName;
  }

  /**
   * What this step's durable rows are filed under: stays the same as long as the full name does,
   * whatever else of the pipeline changes.
   */
  public final long stableId() {
    return StableIds.of(fullName);
  }

  /** Main inputs in order; one collection may be there twice (a Flatten of the same input). */
  public final List<PlanCollection> inputs() {
    return inputs;
  }

  /** Outputs; for a {@link ParDoStep} in the order of its tags, main output first. */
  public final List<PlanCollection> outputs() {
    return outputs;
  }

  @Override
  public final String toString() {
    return fullName;
  }
}
