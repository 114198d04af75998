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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.io.IOException;
import java.util.Arrays;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.TaskMetrics;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.translation.CombineStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.Combine.CombineFn;

/** Merges the partial accumulators of senders, one after the other, by key and window. */
final class CombineWork extends OnePaneWork {
  private final CombineFn<Object, Object, Object> combineFn;
  private final Coder<Object> accumulatorCoder;

  @SuppressWarnings("unchecked") // values are untyped between steps
  CombineWork(
      CombineStep step,
      int root,
      GroupSorter sorter,
      ElementReceiver output,
      TaskMetrics metrics) {
    super(step, root, sorter, output, metrics);
    this.combineFn = (CombineFn<Object, Object, Object>) step.combineFn();
    this.accumulatorCoder = (Coder<Object>) step.accumulatorCoder();
  }

  @Override
  Object value(SortedGroups groups, Times times, boolean whole) throws IOException {
    Object accumulator = null;
    boolean first = true;
    while (groups.nextRecord()) {
      ByteInput body = groups.body();
      times.add(body.readLong());
      Object partial = decode(accumulatorCoder, body);
      accumulator = first ? partial : merge(accumulator, partial);
      first = false;
    }
    return extract(accumulator);
  }

  private Object merge(Object first, Object second) {
    try {
      return combineFn.mergeAccumulators(Arrays.asList(first, second));
    } catch (RuntimeException e) {
      throw new StepFailedException(step().fullName(), "merging accumulators", e);
    }
  }

  private Object extract(Object accumulator) {
    try {
      return combineFn.extractOutput(accumulator);
    } catch (RuntimeException e) {
      throw new StepFailedException(
          step().fullName(), "extracting the output of an accumulator", e);
    }
  }
}
