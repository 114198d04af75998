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

import java.util.List;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.values.PCollection;

/** Translates a Flatten into a {@link FlattenStep}, or a read of nothing if it has no input. */
final class FlattenTranslator implements TransformTranslator<Flatten.PCollections<?>> {
  @Override
  public void translate(Flatten.PCollections<?> transform, TranslationContext context) {
    List<PCollection<?>> inputs = context.mainInputs();
    if (inputs.isEmpty()) {
      PlanCollection output = context.output();
      UnboundedSource<?, ?> nothing =
          output.hasCoder() ? new EmptySource<>(output.coder()) : EmptySource.withoutCoder();
      ReadTranslator.addRead(nothing, output, context);
      return;
    }
    context.add(
        new FlattenStep(
            context.stepIndex(),
            context.fullName(),
            inputs.stream().map(context::input).toList(),
            context.output()));
  }
}
