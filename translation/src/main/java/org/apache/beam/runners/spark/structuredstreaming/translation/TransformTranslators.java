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

import static org.apache.beam.sdk.util.construction.PTransformTranslation.ASSIGN_WINDOWS_TRANSFORM_URN;
import static org.apache.beam.sdk.util.construction.PTransformTranslation.COMBINE_PER_KEY_TRANSFORM_URN;
import static org.apache.beam.sdk.util.construction.PTransformTranslation.FLATTEN_TRANSFORM_URN;
import static org.apache.beam.sdk.util.construction.PTransformTranslation.GROUP_BY_KEY_TRANSFORM_URN;
import static org.apache.beam.sdk.util.construction.PTransformTranslation.IMPULSE_TRANSFORM_URN;
import static org.apache.beam.sdk.util.construction.PTransformTranslation.PAR_DO_TRANSFORM_URN;
import static org.apache.beam.sdk.util.construction.PTransformTranslation.REDISTRIBUTE_ARBITRARILY_URN;
import static org.apache.beam.sdk.util.construction.PTransformTranslation.REDISTRIBUTE_BY_KEY_URN;
import static org.apache.beam.sdk.util.construction.PTransformTranslation.RESHUFFLE_URN;
import static org.apache.beam.sdk.util.construction.PTransformTranslation.TEST_STREAM_TRANSFORM_URN;

import java.util.Map;
import java.util.Optional;
import org.apache.beam.sdk.transforms.Impulse;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.util.construction.PTransformTranslation;
import org.apache.beam.sdk.util.construction.SplittableParDo.PrimitiveBoundedRead;
import org.apache.beam.sdk.util.construction.SplittableParDo.PrimitiveUnboundedRead;
import org.apache.beam.sdk.util.construction.SplittableParDo.ProcessKeyedElements;

/**
 * Which {@link TransformTranslator} serves which transform, by the transform's class, else by its
 * URN. To support a transform is to register its translator here.
 */
final class TransformTranslators {
  private final Map<Class<?>, TransformTranslator<?>> byClass;
  private final Map<String, TransformTranslator<?>> byUrn;

  /**
   * @param encrypted whether the pipeline's options ask for groupings to be encrypted
   */
  TransformTranslators(boolean encrypted) {
    ReadTranslator read = new ReadTranslator();
    TransformTranslator<?> arbitrarily = new RedistributeTranslator(false, encrypted);
    TransformTranslator<?> byKey = new RedistributeTranslator(true, encrypted);
    byClass =
        Map.of(
            Impulse.class, read,
            PrimitiveBoundedRead.class, read,
            PrimitiveUnboundedRead.class, read,
            ProcessKeyedElements.class, new SplittableParDoTranslator(),
            Reshuffle.ViaRandomKey.class, arbitrarily,
            ViewPanes.class, new ViewPanesTranslator());
    byUrn =
        Map.ofEntries(
            Map.entry(IMPULSE_TRANSFORM_URN, read),
            Map.entry(PAR_DO_TRANSFORM_URN, new ParDoTranslator()),
            Map.entry(FLATTEN_TRANSFORM_URN, new FlattenTranslator()),
            Map.entry(ASSIGN_WINDOWS_TRANSFORM_URN, new AssignWindowsTranslator()),
            Map.entry(GROUP_BY_KEY_TRANSFORM_URN, new GroupByKeyTranslator()),
            Map.entry(COMBINE_PER_KEY_TRANSFORM_URN, new CombinePerKeyTranslator()),
            Map.entry(RESHUFFLE_URN, byKey),
            Map.entry(REDISTRIBUTE_BY_KEY_URN, byKey),
            Map.entry(REDISTRIBUTE_ARBITRARILY_URN, arbitrarily),
            Map.entry(TEST_STREAM_TRANSFORM_URN, new TestStreamTranslator()));
  }

  /** The translator that claims this application of a transform, if there is one. */
  @SuppressWarnings("unchecked") // translators are registered under the class or URN of their own type
  Optional<TransformTranslator<PTransform<?, ?>>> claiming(PTransform<?, ?> transform) {
    TransformTranslator<?> found = byClass.get(transform.getClass());
    if (found == null) {
      String urn = PTransformTranslation.urnForTransformOrNull(transform);
      found = urn == null ? null : byUrn.get(urn);
    }
    return Optional.ofNullable((TransformTranslator<PTransform<?, ?>>) found)
        .filter(translator -> translator.claims(transform));
  }
}
