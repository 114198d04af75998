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

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.reflect.DoFnSignature;
import org.apache.beam.sdk.transforms.reflect.DoFnSignatures;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.WindowingStrategy;

/**
 * Translates a ParDo: into a {@link ParDoStep} if it can run where its input is, into a {@link
 * StatefulParDoStep} if all of a key has to meet, into a {@link SideInputParDoStep} if elements may
 * have to wait for side inputs.
 */
final class ParDoTranslator implements TransformTranslator<ParDo.MultiOutput<?, ?>> {
  @Override
  public void translate(ParDo.MultiOutput<?, ?> transform, TranslationContext context) {
    List<String> reasons = DoFnFeatures.unsupported(transform.getFn());
    if (!reasons.isEmpty()) {
      reasons.forEach(context::refuse);
      return;
    }
    DoFnSignature signature = DoFnSignatures.signatureForDoFn(transform.getFn());
    Collection<PCollectionView<?>> views = transform.getSideInputs().values();
    if (DoFnFeatures.isKeyed(signature)) {
      if (!mayBeKeyed(context)) {
        return;
      }
      int level = context.levelBehind(context.input(), views);
      context.keepViews(views, level);
      context.add(
          new StatefulParDoStep(
              context.stepIndex(),
              context.fullName(),
              level,
              spec(transform, context),
              signature.processElement().requiresTimeSortedInput()));
    } else if (views.isEmpty()) {
      context.add(new ParDoStep(context.stepIndex(), context.fullName(), spec(transform, context)));
    } else if (context.requireCoder(context.input())) {
      int level = context.levelBehind(context.input(), views);
      context.keepViews(views, level);
      context.add(
          new SideInputParDoStep(
              context.stepIndex(), context.fullName(), level, spec(transform, context)));
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

  private static DoFnSpec spec(ParDo.MultiOutput<?, ?> transform, TranslationContext context) {
    List<TupleTag<?>> tags = new ArrayList<>();
    tags.add(transform.getMainOutputTag());
    tags.addAll(transform.getAdditionalOutputTags().getAll());
    List<TupleTag<?>> presentTags = new ArrayList<>();
    List<PlanCollection> outputs = new ArrayList<>();
    for (TupleTag<?> tag : tags) {
      PCollection<?> output = context.outputs().get(tag);
      if (output != null) {
        presentTags.add(tag);
        outputs.add(context.output(output));
      } else if (tag.equals(transform.getMainOutputTag())) {
        throw new IllegalStateException(context.fullName() + " has no main output " + tag);
      }
    }
    return new DoFnSpec(
        transform.getFn(),
        ParDo.getDoFnSchemaInformation(transform.getFn(), context.onlyMainInput()),
        context.input(),
        presentTags,
        outputs,
        Map.copyOf(transform.getSideInputs()));
  }
}
