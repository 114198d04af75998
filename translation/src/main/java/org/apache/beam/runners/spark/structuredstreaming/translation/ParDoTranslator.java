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
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.reflect.DoFnSignature;
import org.apache.beam.sdk.transforms.reflect.DoFnSignatures;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.WindowingStrategy;

/**
 * Translates a ParDo: into a {@link StatefulParDoStep} if all of a key has to meet, into a {@link
 * ParDoStep} if it can run where its input is, into a {@link SideInputParDoStep} if elements have to
 * wait somewhere for side inputs; behind a {@link StableInputStep} if it requires stable input.
 */
final class ParDoTranslator implements TransformTranslator<ParDo.MultiOutput<?, ?>> {
  @Override
  public void translate(ParDo.MultiOutput<?, ?> transform, TranslationContext context) {
    DoFnSignature signature = DoFnSignatures.signatureForDoFn(transform.getFn());
    boolean keyed = DoFnFeatures.isKeyed(signature);
    if (keyed && !mayBeKeyed(context)) {
      return;
    }
    PlanCollection input = context.input();
    if (signature.processElement().requiresStableInput()) {
      input = context.stableInput(input, keyed);
      if (input == null) {
        return;
      }
    }
    Collection<PCollectionView<?>> views = transform.getSideInputs().values();
    if (!keyed && context.isBehind(input, views)) {
      context.keepViews(views, 0);
      DoFnSpec spec = spec(transform, input, context);
      context.add(new ParDoStep(context.stepIndex(), context.fullName(), spec));
    } else if (keyed || context.requireCoder(input)) {
      int level = context.levelBehind(input, views);
      context.keepViews(views, level);
      DoFnSpec spec = spec(transform, input, context);
      boolean timeSorted = signature.processElement().requiresTimeSortedInput();
      context.add(
          keyed
              ? new StatefulParDoStep(
                  context.stepIndex(), context.fullName(), level, spec, timeSorted)
              : new SideInputParDoStep(context.stepIndex(), context.fullName(), level, spec));
    }
  }

  private static boolean mayBeKeyed(TranslationContext context) {
    WindowingStrategy<?, ?> windowing = context.input().windowingStrategy();
    if (windowing.needsMerge()) {
      context.refuse(
          "uses state, timers or time-sorted input in the merging windows of "
              + windowing.getWindowFn().getClass().getName()
              + ", which Beam does not define; group by key first, or window otherwise");
      return false;
    }
    return context.requireKeyed(context.input());
  }

  private static DoFnSpec spec(
      ParDo.MultiOutput<?, ?> transform, PlanCollection input, TranslationContext context) {
    return context.doFnSpec(
        transform.getFn(),
        ParDo.getDoFnSchemaInformation(transform.getFn(), context.onlyMainInput()),
        input,
        transform.getMainOutputTag(),
        transform.getAdditionalOutputTags(),
        Map.copyOf(transform.getSideInputs()));
  }
}
