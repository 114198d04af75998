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
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.TaskMetrics;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.PartialAccumulators;
import org.apache.beam.runners.spark.structuredstreaming.translation.CombineStep;

/** Merges the partial accumulators of senders, one after the other, by key and window. */
final class CombineWork extends OnePaneWork {
  private final PartialAccumulators accumulators;

  CombineWork(
      CombineStep step,
      int root,
      GroupSorter sorter,
      ElementReceiver output,
      TaskMetrics metrics) {
    super(step, root, sorter, output, metrics);
    this.accumulators = new PartialAccumulators(step);
  }

  @Override
  Object value(SortedGroups groups, Times times, boolean whole) throws IOException {
    Object accumulator = null;
    boolean first = true;
    while (groups.nextRecord()) {
      ByteInput body = groups.body();
      times.add(body.readLong());
      Object partial = accumulators.decode(body);
      accumulator = first ? partial : accumulators.merge(accumulator, partial);
      first = false;
    }
    return accumulators.output(accumulator);
  }
}
