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

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.DoFnSchemaInformation;
import org.apache.beam.sdk.values.TupleTag;

/** A ParDo without state, timers or side inputs: fused behind the producer of its input. */
public final class ParDoStep extends Step {
  private final DoFn<?, ?> doFn;
  private final List<TupleTag<?>> outputTags;
  private final DoFnSchemaInformation schemaInformation;

  /**
   * @param outputTags tags of {@code outputs}, in the same order, the main output's first
   */
  public ParDoStep(
      int index,
      String fullName,
      DoFn<?, ?> doFn,
      DoFnSchemaInformation schemaInformation,
      PlanCollection input,
      List<TupleTag<?>> outputTags,
      List<PlanCollection> outputs) {
    super(index, fullName, List.of(input), outputs);
    this.doFn = Objects.requireNonNull(doFn, "doFn");
    this.schemaInformation = Objects.requireNonNull(schemaInformation, "schemaInformation");
    this.outputTags = List.copyOf(outputTags);
    if (outputTags.size() != outputs.size()) {
      throw new IllegalArgumentException(
          fullName + ": " + outputTags.size() + " tags for " + outputs.size() + " outputs");
    }
  }

  public DoFn<?, ?> doFn() {
    return doFn;
  }

  public DoFnSchemaInformation schemaInformation() {
    return schemaInformation;
  }

  public PlanCollection input() {
    return inputs().get(0);
  }

  public TupleTag<?> mainOutputTag() {
    return outputTags.get(0);
  }

  public List<TupleTag<?>> additionalOutputTags() {
    return outputTags.subList(1, outputTags.size());
  }

  /** All output tags, in the order of {@link #outputs()}. */
  public List<TupleTag<?>> outputTags() {
    return outputTags;
  }

  /** Coder of each output by its tag; outputs without a coder, which nobody encodes, are left out. */
  public Map<TupleTag<?>, Coder<?>> outputCoders() {
    Map<TupleTag<?>, Coder<?>> coders = new LinkedHashMap<>();
    for (int i = 0; i < outputTags.size(); i++) {
      if (outputs().get(i).hasCoder()) {
        coders.put(outputTags.get(i), outputs().get(i).coder());
      }
    }
    return coders;
  }
}
