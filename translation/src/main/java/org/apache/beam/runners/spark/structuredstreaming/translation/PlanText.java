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
import java.util.stream.Collectors;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.SerializableCoder;
import org.apache.beam.sdk.schemas.SchemaCoder;
import org.apache.beam.sdk.transforms.display.DisplayData;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.values.WindowingStrategy;

/** Coders, windowings and steps as text that is the same in every JVM. */
final class PlanText {
  private PlanText() {}

  /** Class names of a coder and its components, with what else decides how it encodes. */
  static String coder(Coder<?> coder) {
    StringBuilder text = new StringBuilder(coder.getClass().getName());
    if (coder instanceof SerializableCoder<?> serializable) {
      text.append('<').append(serializable.getRecordType().getName()).append('>');
    } else if (coder instanceof SchemaCoder<?> schema) {
      text.append('<').append(schema.getEncodedTypeDescriptor()).append(", ");
      text.append(
          schema.getSchema().getFields().stream()
              .map(field -> field.getName() + " " + field.getType())
              .collect(Collectors.joining(", ", "ROW(", ")>")));
    }
    List<? extends Coder<?>> components = coder.getCoderArguments();
    if (components != null && !components.isEmpty()) {
      text.append(
          components.stream().map(PlanText::coder).collect(Collectors.joining(", ", "(", ")")));
    }
    return text.toString();
  }

  /** All that decides which elements meet in a pane and when it fires. */
  static String windowing(WindowingStrategy<?, ?> strategy) {
    return windowFn(strategy.getWindowFn())
        + ", trigger "
        + strategy.getTrigger()
        + ", lateness "
        + strategy.getAllowedLateness().getMillis()
        + " ms, "
        + strategy.getMode()
        + ", timestamps "
        + strategy.getTimestampCombiner()
        + ", "
        + strategy.getClosingBehavior()
        + ", "
        + strategy.getOnTimeBehavior()
        + (strategy.isAlreadyMerged() ? ", already merged" : "");
  }

  private static String windowFn(WindowFn<?, ?> windowFn) {
    return windowFn.getClass().getName()
        + DisplayData.from(windowFn).items().stream()
            .map(item -> item.getKey() + "=" + item.getValue())
            .sorted()
            .collect(Collectors.joining(", ", "(", ")"));
  }

  /** The kind of a step in a word. */
  static String kind(Step step) {
    if (step instanceof ReadStep) {
      return "read";
    } else if (step instanceof ParDoStep) {
      return "par-do";
    } else if (step instanceof AssignWindowsStep) {
      return "assign-windows";
    } else if (step instanceof FlattenStep) {
      return "flatten";
    } else if (step instanceof GroupByKeyStep) {
      return "group-by-key";
    } else if (step instanceof CombineStep) {
      return "combine";
    } else if (step instanceof RedistributeStep) {
      return "redistribute";
    } else if (step instanceof DeduplicateStep) {
      return "deduplicate";
    } else if (step instanceof StableInputStep) {
      return "stable-input";
    } else if (step instanceof SplittableParDoStep) {
      return "splittable-par-do";
    } else if (step instanceof StatefulParDoStep) {
      return "stateful-par-do";
    } else if (step instanceof ViewStep) {
      return "view";
    } else if (step instanceof SideInputParDoStep) {
      return "side-input-par-do";
    }
    throw new IllegalStateException("No word for steps of " + step.getClass());
  }
}
