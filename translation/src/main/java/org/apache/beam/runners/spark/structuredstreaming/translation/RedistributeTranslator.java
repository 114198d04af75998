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

import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.PTransform;

/**
 * Translates the forms of Reshuffle and Redistribute as a whole into a {@link RedistributeStep}.
 *
 * <p>Their expansions group, and where the pipeline's options ask for groupings to be encrypted
 * ({@link PipelineOptions#getGbek()}) the grouping inside encrypts. Then they are not claimed.
 */
final class RedistributeTranslator implements TransformTranslator<PTransform<?, ?>> {
  private final boolean byKey;
  private final boolean encrypted;

  /**
   * @param byKey whether elements of a key have to meet
   * @param encrypted whether groupings are encrypted in this pipeline
   */
  RedistributeTranslator(boolean byKey, boolean encrypted) {
    this.byKey = byKey;
    this.encrypted = encrypted;
  }

  @Override
  public boolean claims(PTransform<?, ?> transform) {
    return !encrypted;
  }

  @Override
  public void translate(PTransform<?, ?> transform, TranslationContext context) {
    PlanCollection input = context.input();
    boolean shufflable = byKey ? context.requireKeyed(input) : context.requireCoder(input);
    if (!shufflable) {
      return;
    }
    context.add(
        new RedistributeStep(
            context.stepIndex(),
            context.fullName(),
            context.levelBehind(input),
            byKey,
            input,
            context.output()));
  }
}
