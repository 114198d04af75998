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
import java.util.List;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TupleTag;

/** Translates a ParDo that is run on plain elements into a {@link ParDoStep}. */
final class ParDoTranslator implements TransformTranslator<ParDo.MultiOutput<?, ?>> {
  @Override
  public void translate(ParDo.MultiOutput<?, ?> transform, TranslationContext context) {
    List<String> reasons =
        DoFnFeatures.unsupported(transform.getFn(), transform.getSideInputs().keySet());
    if (!reasons.isEmpty()) {
      reasons.forEach(context::refuse);
      return;
    }
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
    context.add(
        new ParDoStep(
            context.stepIndex(),
            context.fullName(),
            transform.getFn(),
            ParDo.getDoFnSchemaInformation(transform.getFn(), context.onlyMainInput()),
            context.input(),
            presentTags,
            outputs));
  }
}
