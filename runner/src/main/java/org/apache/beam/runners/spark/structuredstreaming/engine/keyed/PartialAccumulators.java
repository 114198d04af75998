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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.io.IOException;
import java.util.Arrays;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.translation.CombineStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.Combine.CombineFn;

/** Makes outputs of the partial accumulators that the senders of a lifted combine have made. */
public final class PartialAccumulators {
  private final String fullName;
  private final CombineFn<Object, Object, Object> combineFn;
  private final Coder<Object> accumulatorCoder;

  @SuppressWarnings("unchecked") // values are untyped between steps
  public PartialAccumulators(CombineStep step) {
    this.fullName = step.fullName();
    this.combineFn = (CombineFn<Object, Object, Object>) step.combineFn();
    this.accumulatorCoder = (Coder<Object>) step.accumulatorCoder();
  }

  public Object decode(ByteInput bytes) throws IOException {
    return accumulatorCoder.decode(bytes);
  }

  void encode(Object accumulator, ByteOutput bytes) throws IOException {
    accumulatorCoder.encode(accumulator, bytes);
  }

  Object empty() {
    try {
      return combineFn.createAccumulator();
    } catch (RuntimeException e) {
      throw new StepFailedException(fullName, "creating an accumulator", e);
    }
  }

  /** Merges two, the earlier one first; neither is used afterwards. */
  public Object merge(Object first, Object second) {
    try {
      return combineFn.mergeAccumulators(Arrays.asList(first, second));
    } catch (RuntimeException e) {
      throw new StepFailedException(fullName, "merging accumulators", e);
    }
  }

  public Object output(Object accumulator) {
    try {
      return combineFn.extractOutput(accumulator);
    } catch (RuntimeException e) {
      throw new StepFailedException(fullName, "extracting the output of an accumulator", e);
    }
  }
}
