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

import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.transforms.Impulse;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.util.construction.SplittableParDo.PrimitiveBoundedRead;
import org.apache.beam.sdk.util.construction.SplittableParDo.PrimitiveUnboundedRead;
import org.apache.beam.sdk.values.WindowingStrategy;

/**
 * Translates Impulse and both primitive reads into {@link ReadStep}s of unbounded sources, with a
 * {@link DeduplicateStep} behind those that may give a record twice.
 */
final class ReadTranslator implements TransformTranslator<PTransform<?, ?>> {
  @Override
  public void translate(PTransform<?, ?> transform, TranslationContext context) {
    UnboundedSource<?, ?> source = source(transform);
    if (source.requiresDeduping()) {
      addDeduplicatedRead(source, context);
    } else {
      addRead(source, context.output(), context);
    }
  }

  private static void addDeduplicatedRead(
      UnboundedSource<?, ?> source, TranslationContext context) {
    RecordIdSource<?, ?> identified = new RecordIdSource<>(source);
    PlanCollection records =
        context.between(
            "with record ids", identified.getOutputCoder(), WindowingStrategy.globalDefault());
    addRead(identified, records, context);
    context.add(
        new DeduplicateStep(
            context.stepIndex(),
            context.fullName() + "/Deduplicate",
            context.levelBehind(records),
            records,
            context.output()));
  }

  private static UnboundedSource<?, ?> source(PTransform<?, ?> transform) {
    if (transform instanceof Impulse) {
      return new ImpulseSource();
    }
    if (transform instanceof PrimitiveBoundedRead<?> read) {
      return new BoundedReadSource<>(read.getSource());
    }
    if (transform instanceof PrimitiveUnboundedRead<?> read) {
      return read.getSource();
    }
    throw new IllegalStateException("Not a read: " + transform.getClass().getName());
  }

  static void addRead(
      UnboundedSource<?, ?> source, PlanCollection output, TranslationContext context) {
    context.add(
        new ReadStep(
            context.stepIndex(),
            context.fullName(),
            context.firstLevel(),
            context.sourceIndex(),
            source,
            output));
  }
}
