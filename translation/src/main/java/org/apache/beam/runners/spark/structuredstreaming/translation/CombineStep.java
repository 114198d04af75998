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
import java.util.Objects;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.CombineFnBase.GlobalCombineFn;
import org.apache.beam.sdk.transforms.CombineWithContext.CombineFnWithContext;

/**
 * Combine.perKey. When {@link #lifted()}, what reaches the shuffle is a partial accumulator per key
 * and window and the step merges those; otherwise the input values themselves.
 */
public final class CombineStep extends KeyedStep {
  private final GlobalCombineFn<?, ?, ?> combineFn;
  private final Coder<?> accumulatorCoder;
  private final boolean lifted;

  public CombineStep(
      int index,
      String fullName,
      int level,
      GlobalCombineFn<?, ?, ?> combineFn,
      Coder<?> accumulatorCoder,
      boolean lifted,
      PlanCollection input,
      PlanCollection output) {
    super(index, fullName, level, List.of(input), List.of(output));
    this.combineFn = Objects.requireNonNull(combineFn, "combineFn");
    this.accumulatorCoder = Objects.requireNonNull(accumulatorCoder, "accumulatorCoder");
    this.lifted = lifted;
    if (lifted && combineFn instanceof CombineFnWithContext) {
      throw new IllegalArgumentException(fullName + ": a combine with context cannot be lifted");
    }
  }

  /** A {@link CombineFn} or {@link CombineFnWithContext} from input values to the output value. */
  public GlobalCombineFn<?, ?, ?> combineFn() {
    return combineFn;
  }

  public Coder<?> accumulatorCoder() {
    return accumulatorCoder;
  }

  public boolean lifted() {
    return lifted;
  }
}
