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

import java.util.Collection;
import java.util.Map;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.DoFnSchemaInformation;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.reflect.DoFnSignatures;
import org.apache.beam.sdk.util.construction.SplittableParDo.ProcessKeyedElements;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;

/** Translates the end of a splittable ParDo's expansion into a {@link SplittableParDoStep}. */
final class SplittableParDoTranslator
    implements TransformTranslator<ProcessKeyedElements<?, ?, ?, ?>> {
  @Override
  public void translate(ProcessKeyedElements<?, ?, ?, ?> transform, TranslationContext context) {
    PlanCollection input = context.input();
    if (!context.requireKeyed(input)) {
      return;
    }
    if (DoFnSignatures.signatureForDoFn(transform.getFn()).processElement().requiresStableInput()) {
      // Every element has a key of its own: there is no order among them to be kept.
      input = context.stableInput(input, false);
    }
    add(transform, input, context);
  }

  private static <InputT, OutputT, RestrictionT, StateT> void add(
      ProcessKeyedElements<InputT, OutputT, RestrictionT, StateT> transform,
      PlanCollection input,
      TranslationContext context) {
    DoFn<?, ?> processFn =
        new SplittableProcessFn<InputT, OutputT, RestrictionT, Object, StateT>(
            transform.getFn(),
            transform.getElementCoder(),
            transform.getRestrictionCoder(),
            transform.getWatermarkEstimatorStateCoder(),
            transform.getInputWindowingStrategy(),
            transform.getSideInputMapping());
    Collection<PCollectionView<?>> views = transform.getSideInputMapping().values();
    int level = context.levelBehind(input, views);
    context.keepViews(views, level);
    DoFnSpec spec =
        context.doFnSpec(
            processFn,
            DoFnSchemaInformation.create(),
            input,
            transform.getMainOutputTag(),
            transform.getAdditionalOutputTags(),
            Map.copyOf(transform.getSideInputMapping()));
    context.add(
        new SplittableParDoStep(
            context.stepIndex(),
            context.fullName(),
            level,
            spec,
            schemaInformation(transform.getFn(), transform.getElementCoder(), context),
            transform.getElementCoder(),
            transform.getRestrictionCoder(),
            transform.getWatermarkEstimatorStateCoder()));
  }

  /** The schema of the elements is known by their coder: their collection is not at hand here. */
  private static <InputT> DoFnSchemaInformation schemaInformation(
      DoFn<InputT, ?> fn, Coder<InputT> elementCoder, TranslationContext context) {
    PCollection<?> input = context.onlyMainInput();
    PCollection<InputT> elements =
        PCollection.createPrimitiveOutputInternal(
            input.getPipeline(), input.getWindowingStrategy(), input.isBounded(), elementCoder);
    return ParDo.getDoFnSchemaInformation(fn, elements);
  }
}
