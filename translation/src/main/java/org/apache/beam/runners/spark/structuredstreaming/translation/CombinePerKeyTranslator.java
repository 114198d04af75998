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

import java.util.Optional;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.CombineFnBase.GlobalCombineFn;
import org.apache.beam.sdk.transforms.CombineWithContext.CombineFnWithContext;

/**
 * Translates a Combine.perKey as a whole into a {@link CombineStep}. It is lifted when no pane can
 * fire before the watermark has passed the end of the window: only then does it make no difference
 * to the trigger how many elements a partial accumulator stands for.
 */
final class CombinePerKeyTranslator implements TransformTranslator<Combine.PerKey<?, ?, ?>> {
  /**
   * A Combine whose GroupByKey encrypts must keep it. One that reads side inputs or asks for a context
   * is run as Beam expands it, in a ParDo behind a GroupByKey: there the views can be waited for.
   */
  @Override
  public boolean claims(Combine.PerKey<?, ?, ?> transform) {
    return !transform.shouldSkipReplacement()
        && transform.getSideInputs().isEmpty()
        && !(transform.getFn() instanceof CombineFnWithContext);
  }

  @Override
  public void translate(Combine.PerKey<?, ?, ?> transform, TranslationContext context) {
    GlobalCombineFn<?, ?, ?> fn = transform.getFn();
    PlanCollection input = context.input();
    Optional<String> unsupported =
        unsupported(transform).or(() -> TriggerFeatures.unsupported(input.windowingStrategy()));
    unsupported.ifPresent(context::refuse);
    if (!context.requireKeyed(input) || unsupported.isPresent()) {
      return;
    }
    Coder<?> valueCoder = ((KvCoder<?, ?>) input.coder()).getValueCoder();
    Optional<Coder<?>> accumulatorCoder = context.requireAccumulatorCoder(fn, valueCoder);
    if (accumulatorCoder.isEmpty()) {
      return;
    }
    context.add(
        new CombineStep(
            context.stepIndex(),
            context.fullName(),
            context.levelBehind(input),
            fn,
            accumulatorCoder.get(),
            TriggerFeatures.isDefault(input.windowingStrategy()),
            input,
            context.output()));
  }

  private static Optional<String> unsupported(Combine.PerKey<?, ?, ?> transform) {
    GlobalCombineFn<?, ?, ?> fn = transform.getFn();
    if (!(fn instanceof CombineFn)) {
      return Optional.of(
          "combines with " + fn.getClass().getName() + ", which is no CombineFn");
    }
    return Optional.empty();
  }
}
