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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.DoFnSchemaInformation;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;

/**
 * A DoFn and how it is applied: what all steps that run one have in common. Immutable and
 * serializable.
 *
 * <p>Invariant: there is at least one output, each output has its tag at the same position, and the
 * main output's comes first.
 */
public final class DoFnSpec implements Serializable {
  private final DoFn<?, ?> doFn;
  private final DoFnSchemaInformation schemaInformation;
  private final PlanCollection input;
  private final List<TupleTag<?>> outputTags;
  private final List<PlanCollection> outputs;
  private final Map<String, PCollectionView<?>> sideInputs;

  /**
   * @param outputTags tags of {@code outputs}, in the same order, the main output's first
   * @param sideInputs the views that the DoFn may read, by the name it asks for them with
   */
  public DoFnSpec(
      DoFn<?, ?> doFn,
      DoFnSchemaInformation schemaInformation,
      PlanCollection input,
      List<TupleTag<?>> outputTags,
      List<PlanCollection> outputs,
      Map<String, PCollectionView<?>> sideInputs) {
    this.doFn = Objects.requireNonNull(doFn, "doFn");
    this.schemaInformation = Objects.requireNonNull(schemaInformation, "schemaInformation");
    this.input = Objects.requireNonNull(input, "input");
    this.outputTags = List.copyOf(outputTags);
    this.outputs = List.copyOf(outputs);
    this.sideInputs = Map.copyOf(sideInputs);
    if (outputTags.isEmpty() || outputTags.size() != outputs.size()) {
      throw new IllegalArgumentException(
          doFn.getClass().getName() + ": " + outputTags.size() + " tags for " + outputs.size()
              + " outputs");
    }
  }

  /** The DoFn as the pipeline has it: to be cloned before it is run. */
  public DoFn<?, ?> doFn() {
    return doFn;
  }

  public DoFnSchemaInformation schemaInformation() {
    return schemaInformation;
  }

  public PlanCollection input() {
    return input;
  }

  /** Coder of the input's elements; null if there is none, as where nobody encodes them. */
  public Coder<?> inputCoderOrNull() {
    return input.hasCoder() ? input.coder() : null;
  }

  public List<PlanCollection> outputs() {
    return outputs;
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
      if (outputs.get(i).hasCoder()) {
        coders.put(outputTags.get(i), outputs.get(i).coder());
      }
    }
    return coders;
  }

  /** The views that the DoFn may read, by the name it asks for them with; empty if it reads none. */
  public Map<String, PCollectionView<?>> sideInputs() {
    return sideInputs;
  }
}
