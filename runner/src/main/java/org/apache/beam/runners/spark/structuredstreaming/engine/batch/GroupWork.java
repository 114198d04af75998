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
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.sdk.coders.Coder;

/** Gathers values by key and window. */
final class GroupWork extends OnePaneWork {
  private final Coder<Object> valueCoder;
  private GroupValues values;

  @SuppressWarnings("unchecked") // values are untyped between steps
  GroupWork(
      KeyedStep step,
      int root,
      GroupSorter sorter,
      ElementReceiver output,
      TaskMetrics metrics) {
    super(step, root, sorter, output, metrics);
    this.valueCoder = (Coder<Object>) step.valueCoder();
  }

  @Override
  Object value(SortedGroups groups, Times times, boolean whole) throws IOException {
    values = new GroupValues(step().fullName(), valueCoder, new Records(groups, times));
    if (whole) {
      values.readAll();
    }
    return values.asIterable();
  }

  @Override
  void groupDone() {
    values.close();
    values = null;
  }

  /** The values of the group that {@code groups} stands at. */
  private record Records(SortedGroups groups, Times times) implements GroupValues.Source {
    @Override
    public boolean next() throws IOException {
      if (!groups.nextRecord()) {
        return false;
      }
      times.add(groups.body().readLong());
      return true;
    }

    @Override
    public ByteInput value() {
      return groups.body();
    }
  }
}
