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

import org.apache.beam.sdk.transforms.PTransform;

/**
 * Translates one kind of transform into steps, or says why it cannot. One instance serves all
 * applications of the kind; it keeps nothing between them.
 *
 * @param <TransformT> class of the transforms it is registered for
 */
interface TransformTranslator<TransformT extends PTransform<?, ?>> {
  /**
   * Translates one application of the transform, whose inputs have been translated before. Either
   * adds the steps that produce all its outputs, or calls {@link TranslationContext#refuse} and adds
   * none.
   */
  void translate(TransformT transform, TranslationContext context);

  /**
   * Whether this application is translated as it stands. If not and it is a composite, its parts are
   * translated instead.
   */
  default boolean claims(TransformT transform) {
    return true;
  }
}
