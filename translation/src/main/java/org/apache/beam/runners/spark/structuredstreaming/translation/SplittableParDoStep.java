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

import java.util.Objects;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.DoFnSchemaInformation;

/**
 * Processes elements with their restrictions, {@code KV<byte[], KV<element, restriction>>} under a
 * key of each one's own, and goes on later with what is left of a restriction. Each element is in one
 * window.
 */
public final class SplittableParDoStep extends KeyedParDoStep {
  private final DoFnSchemaInformation schemaInformation;
  private final Coder<?> elementCoder;
  private final Coder<?> restrictionCoder;
  private final Coder<?> watermarkEstimatorStateCoder;

  /**
   * @param spec its DoFn is a {@link SplittableProcessFn} around the splittable one
   * @param schemaInformation how the splittable DoFn wants its element
   */
  SplittableParDoStep(
      int index,
      String fullName,
      int level,
      DoFnSpec spec,
      DoFnSchemaInformation schemaInformation,
      Coder<?> elementCoder,
      Coder<?> restrictionCoder,
      Coder<?> watermarkEstimatorStateCoder) {
    super(index, fullName, level, spec);
    this.schemaInformation = Objects.requireNonNull(schemaInformation, "schemaInformation");
    this.elementCoder = Objects.requireNonNull(elementCoder, "elementCoder");
    this.restrictionCoder = Objects.requireNonNull(restrictionCoder, "restrictionCoder");
    this.watermarkEstimatorStateCoder =
        Objects.requireNonNull(watermarkEstimatorStateCoder, "watermarkEstimatorStateCoder");
  }

  /** How the splittable DoFn wants its element: the spec has that of the DoFn around it. */
  public DoFnSchemaInformation schemaInformation() {
    return schemaInformation;
  }

  public Coder<?> elementCoder() {
    return elementCoder;
  }

  public Coder<?> restrictionCoder() {
    return restrictionCoder;
  }

  public Coder<?> watermarkEstimatorStateCoder() {
    return watermarkEstimatorStateCoder;
  }
}
