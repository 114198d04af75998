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
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.values.WindowingStrategy;

/**
 * A step behind a shuffle: all elements of a key meet in one partition. It stands on level {@code 1
 * + max(levels that carry its input)}.
 */
public abstract sealed class KeyedStep extends Step
    permits GroupByKeyStep,
        CombineStep,
        RedistributeStep,
        DeduplicateStep,
        StableInputStep,
        KeyedParDoStep,
        ViewStep {
  private final int level;

  KeyedStep(
      int index,
      String fullName,
      int level,
      List<PlanCollection> inputs,
      List<PlanCollection> outputs) {
    super(index, fullName, inputs, outputs);
    if (level < 1) {
      throw new IllegalArgumentException(fullName + ": a keyed step cannot stand on level " + level);
    }
    this.level = level;
  }

  /** The level this step stands on, from 1. */
  public final int level() {
    return level;
  }

  public final PlanCollection input() {
    return inputs().get(0);
  }

  public final PlanCollection output() {
    return outputs().get(0);
  }

  /** Windowing of the input, which decides what belongs together and when it is complete. */
  public final WindowingStrategy<?, ?> windowingStrategy() {
    return input().windowingStrategy();
  }

  /** Coder of the input's keys; the input's elements are KVs. */
  public Coder<?> keyCoder() {
    return ((KvCoder<?, ?>) input().coder()).getKeyCoder();
  }

  /** Coder of the input's values; the input's elements are KVs. */
  public Coder<?> valueCoder() {
    return ((KvCoder<?, ?>) input().coder()).getValueCoder();
  }

  /** Whether what this step receives in an epoch leaves it in the next one only. */
  public boolean isDelaying() {
    return false;
  }
}
