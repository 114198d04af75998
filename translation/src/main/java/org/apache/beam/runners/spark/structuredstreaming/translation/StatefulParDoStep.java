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

import org.apache.beam.sdk.transforms.DoFn;

/**
 * A ParDo whose DoFn has state or timers, or expects its input sorted by time: elements and timers of
 * a key and window meet on one instance of the DoFn, one after the other.
 */
public final class StatefulParDoStep extends KeyedParDoStep {
  private final boolean timeSorted;

  /**
   * @param timeSorted whether elements of a key and window come in the order of their timestamps:
   *     {@link DoFn.RequiresTimeSortedInput}
   */
  public StatefulParDoStep(
      int index, String fullName, int level, DoFnSpec spec, boolean timeSorted) {
    super(index, fullName, level, spec);
    this.timeSorted = timeSorted;
  }

  public boolean timeSorted() {
    return timeSorted;
  }
}
