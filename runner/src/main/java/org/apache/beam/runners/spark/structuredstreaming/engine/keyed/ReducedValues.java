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
import java.io.InputStream;
import java.util.Arrays;
import org.apache.beam.runners.core.ReduceFn;
import org.apache.beam.runners.core.SystemReduceFn;
import org.apache.beam.runners.spark.structuredstreaming.translation.CombineStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.CombineFnBase.GlobalCombineFn;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.util.AppliedCombineFn;

/** What comes over the shuffle for a step that runs by ReduceFnRunner, and how it is reduced. */
final class ReducedValues {
  private final Coder<Object> coder;
  private final ReduceFn<Object, Object, Object, BoundedWindow> reduceFn;

  private ReducedValues(
      Coder<Object> coder, ReduceFn<Object, Object, Object, BoundedWindow> reduceFn) {
    this.coder = coder;
    this.reduceFn = reduceFn;
  }

  @SuppressWarnings("unchecked") // keys and values are untyped between steps
  static ReducedValues of(KeyedStep step) {
    Coder<Object> keyCoder = (Coder<Object>) step.keyCoder();
    Coder<Object> valueCoder = (Coder<Object>) step.valueCoder();
    if (!(step instanceof CombineStep combine)) {
      SystemReduceFn<Object, Object, Iterable<Object>, Iterable<Object>, BoundedWindow> buffering =
          SystemReduceFn.buffering(valueCoder);
      // The values of a pane are an Iterable, which is an Object.
      return new ReducedValues(
          valueCoder, (ReduceFn<Object, Object, Object, BoundedWindow>) (ReduceFn<?, ?, ?, ?>) buffering);
    }
    Coder<Object> accumulatorCoder = (Coder<Object>) combine.accumulatorCoder();
    GlobalCombineFn<Object, Object, Object> combineFn =
        combine.lifted()
            ? new MergingFn((CombineFn<Object, Object, Object>) combine.combineFn())
            : (GlobalCombineFn<Object, Object, Object>) combine.combineFn();
    return new ReducedValues(
        combine.lifted() ? accumulatorCoder : valueCoder,
        SystemReduceFn.combining(
            keyCoder, AppliedCombineFn.withAccumulatorCoder(combineFn, accumulatorCoder)));
  }

  Object decode(InputStream in) throws IOException {
    return coder.decode(in);
  }

  ReduceFn<Object, Object, Object, BoundedWindow> reduceFn() {
    return reduceFn;
  }

  /** A CombineFn whose inputs are accumulators of another. */
  private static final class MergingFn extends CombineFn<Object, Object, Object> {
    private final CombineFn<Object, Object, Object> combineFn;

    MergingFn(CombineFn<Object, Object, Object> combineFn) {
      this.combineFn = combineFn;
    }

    @Override
    public Object createAccumulator() {
      return combineFn.createAccumulator();
    }

    @Override
    public Object addInput(Object accumulator, Object partial) {
      return combineFn.mergeAccumulators(Arrays.asList(accumulator, partial));
    }

    @Override
    public Object mergeAccumulators(Iterable<Object> accumulators) {
      return combineFn.mergeAccumulators(accumulators);
    }

    @Override
    public Object compact(Object accumulator) {
      return combineFn.compact(accumulator);
    }

    @Override
    public Object extractOutput(Object accumulator) {
      return combineFn.extractOutput(accumulator);
    }
  }
}
