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

import java.util.Map;
import org.apache.beam.sdk.runners.AppliedPTransform;
import org.apache.beam.sdk.runners.PTransformOverride;
import org.apache.beam.sdk.runners.PTransformOverrideFactory;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.util.construction.PTransformReplacements;
import org.apache.beam.sdk.util.construction.ReplacementOutputs;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TupleTag;

/** Replaces {@code Combine.globally} with a default value by {@link CombineGloballyWithDefault}. */
final class GlobalCombineOverride<InputT, OutputT>
    implements PTransformOverrideFactory<
        PCollection<InputT>, PCollection<OutputT>, Combine.Globally<InputT, OutputT>> {
  static final PTransformOverride OVERRIDE =
      PTransformOverride.of(
          application ->
              application.getTransform() instanceof Combine.Globally<?, ?> combine
                  && combine.isInsertDefault(),
          new GlobalCombineOverride<>());

  private GlobalCombineOverride() {}

  @Override
  public PTransformReplacement<PCollection<InputT>, PCollection<OutputT>> getReplacementTransform(
      AppliedPTransform<
              PCollection<InputT>, PCollection<OutputT>, Combine.Globally<InputT, OutputT>>
          application) {
    return PTransformReplacement.of(
        PTransformReplacements.getSingletonMainInput(application),
        new CombineGloballyWithDefault<>(application.getTransform()));
  }

  @Override
  public Map<PCollection<?>, ReplacementOutput> mapOutputs(
      Map<TupleTag<?>, PCollection<?>> outputs, PCollection<OutputT> newOutput) {
    return ReplacementOutputs.singleton(outputs, newOutput);
  }
}
