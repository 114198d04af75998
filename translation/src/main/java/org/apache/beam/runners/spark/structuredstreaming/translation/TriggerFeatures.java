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

import java.util.Optional;
import org.apache.beam.runners.core.triggers.TriggerStateMachines;
import org.apache.beam.sdk.transforms.windowing.DefaultTrigger;
import org.apache.beam.sdk.transforms.windowing.Trigger;
import org.apache.beam.sdk.util.construction.TriggerTranslation;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.apache.beam.sdk.values.WindowingStrategy.AccumulationMode;

/** Which triggers a grouping can be run with. */
final class TriggerFeatures {
  private TriggerFeatures() {}

  /** Whether a window fires once the watermark has passed its end, and then for late data. */
  static boolean isDefault(WindowingStrategy<?, ?> strategy) {
    return strategy.getTrigger() instanceof DefaultTrigger;
  }

  /** Why elements cannot be grouped by {@code strategy}; empty if they can. */
  static Optional<String> unsupported(WindowingStrategy<?, ?> strategy) {
    Trigger trigger = strategy.getTrigger();
    if (strategy.getMode() == AccumulationMode.RETRACTING_FIRED_PANES) {
      return Optional.of(
          "groups with the accumulation mode RETRACTING_FIRED_PANES, which Beam declares but does"
              + " not define; use accumulatingFiredPanes() or discardingFiredPanes()");
    }
    try {
      TriggerStateMachines.stateMachineForTrigger(TriggerTranslation.toProto(trigger));
      return Optional.empty();
    } catch (IllegalArgumentException | UnsupportedOperationException e) {
      return Optional.of(
          "groups with the trigger "
              + trigger
              + " ("
              + trigger.getClass().getName()
              + "), which is none of Beam's own: "
              + e.getMessage());
    }
  }
}
