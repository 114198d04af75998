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

/**
 * Makes a DoFn's input durable before the DoFn sees it, as {@code @RequiresStableInput} asks:
 * elements that come in one epoch go into the state and leave it, in the same order and with the same
 * timestamps, windows and panes, in the next one. So every attempt at that epoch gives the DoFn the
 * same elements.
 */
public final class StableInputStep extends KeyedStep {
  private final boolean byKey;

  /**
   * @param byKey whether elements of a key have to meet in one partition, and so keep their order
   *     among each other (the input is then of KVs); if not, they are spread evenly
   */
  public StableInputStep(
      int index,
      String fullName,
      int level,
      boolean byKey,
      PlanCollection input,
      PlanCollection output) {
    super(index, fullName, level, List.of(input), List.of(output));
    this.byKey = byKey;
  }

  public boolean byKey() {
    return byKey;
  }

  @Override
  public boolean isDelaying() {
    return true;
  }
}
