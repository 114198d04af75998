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
import org.apache.beam.sdk.transforms.GroupByKey;

/** Translates a GroupByKey into a {@link GroupByKeyStep}. */
final class GroupByKeyTranslator implements TransformTranslator<GroupByKey<?, ?>> {
  /** A GroupByKey that encrypts is a composite around one that does not. */
  @Override
  public boolean claims(GroupByKey<?, ?> transform) {
    return !transform.surroundsGBEK();
  }

  @Override
  public void translate(GroupByKey<?, ?> transform, TranslationContext context) {
    PlanCollection input = context.input();
    Optional<String> trigger = TriggerFeatures.unsupported(input.windowingStrategy());
    trigger.ifPresent(context::refuse);
    if (!context.requireKeyed(input) || trigger.isPresent()) {
      return;
    }
    context.add(
        new GroupByKeyStep(
            context.stepIndex(),
            context.fullName(),
            context.levelBehind(input),
            input,
            context.output()));
  }
}
