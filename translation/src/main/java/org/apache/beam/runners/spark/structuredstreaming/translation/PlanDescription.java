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

/** A plan as text for logs: levels, their steps with inputs and outputs, and edges. */
final class PlanDescription {
  private PlanDescription() {}

  static String of(Plan plan) {
    StringBuilder text = new StringBuilder();
    for (Level level : plan.levels()) {
      text.append("level ").append(level.number()).append('\n');
      level.roots().forEach(step -> append(text, "root ", step));
      level.fused().forEach(step -> append(text, "fused", step));
      for (Edge edge : level.outgoing()) {
        text.append("  edge  ").append(edge.index()).append(": ").append(edge.collection());
        text.append(" to level ").append(edge.toLevel()).append(", ").append(edge.target());
        text.append('\n');
      }
    }
    return text.toString();
  }

  private static void append(StringBuilder text, String role, Step step) {
    text.append("  ").append(role).append(' ').append(step.index()).append(": ");
    text.append(PlanText.kind(step)).append(" '").append(step.fullName()).append("' ");
    text.append(names(step.inputs())).append(" -> ").append(names(step.outputs()));
    if (step instanceof CombineStep combine && combine.lifted()) {
      text.append(", lifted");
    }
    text.append('\n');
  }

  private static String names(List<PlanCollection> collections) {
    return collections.stream().map(PlanCollection::name).collect(Collectors.joining(", ", "(", ")"));
  }
}
