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

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.beam.sdk.coders.Coder;

/**
 * What of a plan has to stay the same for a checkpoint to be continued with, as text that is kept in
 * the checkpoint. The same pipeline has the same fingerprint in every JVM.
 *
 * <p>Text format: the line {@code beam-plan-fingerprint 1}, then a line per step in topological
 * order, made of {@code key=value} fields that tabs separate; backslash, tab and line ends within a
 * value are escaped with a backslash. Every step has the fields {@code kind}, {@code name} and
 * {@code levels}.
 */
public final class PlanFingerprint {
  private static final String HEADER = "beam-plan-fingerprint 1";
  private static final String KIND = "kind";
  private static final String NAME = "name";
  private static final String LEVELS = "levels";
  private static final String READ = "read";

  /** Kinds that keep rows in the state store. */
  private static final List<String> STATEFUL =
      List.of(
          "group-by-key",
          "combine",
          "deduplicate",
          "stable-input",
          "splittable-par-do",
          "stateful-par-do",
          "view",
          "side-input-par-do");

  /** What a source's durable marks or a step's rows depend on. */
  private static final List<String> DURABLE =
      List.of(
          "mark coder",
          "events",
          "key coder",
          "stored value coder",
          "accumulator coder",
          "window coder",
          "element coder",
          "restriction coder",
          "watermark estimator state coder",
          "windowing",
          "state",
          "timers");

  private final List<Map<String, String>> steps;

  private PlanFingerprint(List<Map<String, String>> steps) {
    this.steps = steps;
  }

  /** The fingerprint of a plan. */
  public static PlanFingerprint of(Plan plan) {
    return new PlanFingerprint(plan.steps().stream().map(step -> fields(plan, step)).toList());
  }

  private static Map<String, String> fields(Plan plan, Step step) {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put(KIND, PlanText.kind(step));
    fields.put(NAME, step.fullName());
    fields.put(
        LEVELS,
        plan.levels().stream()
            .filter(level -> level.roots().contains(step) || level.fused().contains(step))
            .map(level -> Integer.toString(level.number()))
            .collect(Collectors.joining(",")));
    if (step instanceof ReadStep read) {
      fields.put("source", read.source().getClass().getName());
      Coder<?> markCoder = read.markCoder();
      if (markCoder != null) {
        fields.put("mark coder", PlanText.coder(markCoder));
      }
      if (read.source() instanceof TestStreamSource<?> stream) {
        fields.put("events", stream.fingerprint());
      }
    } else if (step instanceof GroupByKeyStep group) {
      fields.put("key coder", PlanText.coder(group.keyCoder()));
      fields.put("stored value coder", PlanText.coder(group.valueCoder()));
      fields.put("windowing", PlanText.windowing(group.windowingStrategy()));
    } else if (step instanceof CombineStep combine) {
      fields.put("key coder", PlanText.coder(combine.keyCoder()));
      fields.put("value coder", PlanText.coder(combine.valueCoder()));
      fields.put("accumulator coder", PlanText.coder(combine.accumulatorCoder()));
      fields.put("windowing", PlanText.windowing(combine.windowingStrategy()));
    } else if (step instanceof StableInputStep stable) {
      fields.put("stored value coder", PlanText.coder(stable.input().coder()));
      fields.put("window coder", PlanText.coder(stable.input().windowCoder()));
    } else if (step instanceof SplittableParDoStep parDo) {
      fields.put("element coder", PlanText.coder(parDo.elementCoder()));
      fields.put("restriction coder", PlanText.coder(parDo.restrictionCoder()));
      fields.put(
          "watermark estimator state coder", PlanText.coder(parDo.watermarkEstimatorStateCoder()));
      fields.put("window coder", PlanText.coder(parDo.input().windowCoder()));
    } else if (step instanceof ViewStep view) {
      fields.put("stored value coder", PlanText.coder(view.elementCoder()));
      fields.put("windowing", PlanText.windowing(view.windowingStrategy()));
    } else if (step instanceof SideInputParDoStep parDo) {
      fields.put("stored value coder", PlanText.coder(parDo.input().coder()));
      fields.put("windowing", PlanText.windowing(parDo.windowingStrategy()));
    } else if (step instanceof StatefulParDoStep parDo) {
      fields.put("key coder", PlanText.coder(parDo.keyCoder()));
      if (parDo.timeSorted() || !parDo.spec().sideInputs().isEmpty()) {
        fields.put("stored value coder", PlanText.coder(parDo.valueCoder()));
      }
      fields.put("windowing", PlanText.windowing(parDo.windowingStrategy()));
      fields.put("state", StateText.states(parDo.spec().doFn()));
      fields.put("timers", StateText.timers(parDo.spec().doFn()));
    } else if (step instanceof RedistributeStep redistribute) {
      fields.put("coder", PlanText.coder(redistribute.input().coder()));
    }
    return fields;
  }

  /** The text to store. */
  public String encode() {
    StringBuilder text = new StringBuilder(HEADER).append('\n');
    for (Map<String, String> step : steps) {
      text.append(
          step.entrySet().stream()
              .map(field -> field.getKey() + "=" + escape(field.getValue()))
              .collect(Collectors.joining("\t", "", "\n")));
    }
    return text.toString();
  }

  /**
   * Reads what {@link #encode} has written.
   *
   * @throws IllegalArgumentException when the text is no fingerprint, of another version or
   *     truncated; says what was found and leaves it to the caller to name the file
   */
  public static PlanFingerprint decode(String text) {
    List<String> lines = text.lines().toList();
    if (lines.isEmpty() || !lines.get(0).equals(HEADER)) {
      throw new IllegalArgumentException(
          "A plan fingerprint starts with '"
              + HEADER
              + "', found '"
              + (lines.isEmpty() ? "" : lines.get(0))
              + "'.");
    }
    if (!text.endsWith("\n")) {
      throw new IllegalArgumentException(
          "The plan fingerprint is truncated in line " + lines.size() + ".");
    }
    List<Map<String, String>> steps = new ArrayList<>();
    for (int line = 1; line < lines.size(); line++) {
      steps.add(decodeStep(lines.get(line), line + 1));
    }
    return new PlanFingerprint(List.copyOf(steps));
  }

  private static Map<String, String> decodeStep(String line, int number) {
    Map<String, String> fields = new LinkedHashMap<>();
    for (String field : line.split("\t", -1)) {
      int equals = field.indexOf('=');
      if (equals < 0) {
        throw new IllegalArgumentException(
            "Line " + number + " of the plan fingerprint has the field '" + field + "' without '='.");
      }
      fields.put(field.substring(0, equals), unescape(field.substring(equals + 1), number));
    }
    if (!fields.keySet().containsAll(List.of(KIND, NAME, LEVELS))) {
      throw new IllegalArgumentException(
          "Line " + number + " of the plan fingerprint lacks kind, name or levels: '" + line + "'.");
    }
    return fields;
  }

  /**
   * Why a checkpoint of the plan {@code stored} cannot be continued by the plan {@code now}; empty
   * if it can. The sources have to be the same in the same order, with marks coded the same; every
   * step with state has to be there still, be of the same kind, and have the same coders and
   * windowing. As the state store of a step is that of its level, it has to stand on the same level,
   * and a new one on a level that had state. Steps without state are of no concern.
   */
  public static List<String> incompatibilities(PlanFingerprint stored, PlanFingerprint now) {
    List<String> differences = new ArrayList<>();
    compareSources(stored, now, differences);
    Map<String, Map<String, String>> nowByName = now.byName();
    for (Map<String, String> before : stored.steps) {
      if (STATEFUL.contains(before.get(KIND))) {
        compareState(before, nowByName.get(before.get(NAME)), differences);
      }
    }
    compareNewState(stored, now, differences);
    return differences;
  }

  /** A level without state has no store of the epochs before that a new step could begin in. */
  private static void compareNewState(
      PlanFingerprint stored, PlanFingerprint now, List<String> differences) {
    Map<String, Map<String, String>> storedByName = stored.byName();
    Set<String> levelsWithState =
        stored.steps.stream()
            .filter(step -> STATEFUL.contains(step.get(KIND)))
            .map(step -> step.get(LEVELS))
            .collect(Collectors.toSet());
    for (Map<String, String> step : now.steps) {
      if (STATEFUL.contains(step.get(KIND))
          && !storedByName.containsKey(step.get(NAME))
          && !levelsWithState.contains(step.get(LEVELS))) {
        differences.add(
            describe(step) + " is new on level " + step.get(LEVELS) + ", which had no state");
      }
    }
  }

  private static void compareSources(
      PlanFingerprint stored, PlanFingerprint now, List<String> differences) {
    Map<String, Map<String, String>> before = stored.sources();
    Map<String, Map<String, String>> after = now.sources();
    for (String name : before.keySet()) {
      if (!after.containsKey(name)) {
        differences.add("source '" + name + "' is gone");
      } else {
        compareDurable("source '" + name + "'", before.get(name), after.get(name), differences);
      }
    }
    for (String name : after.keySet()) {
      if (!before.containsKey(name)) {
        differences.add("source '" + name + "' is new");
      }
    }
    List<String> orderBefore = List.copyOf(before.keySet());
    List<String> orderAfter = List.copyOf(after.keySet());
    if (before.keySet().equals(after.keySet()) && !orderBefore.equals(orderAfter)) {
      differences.add("the sources were in the order " + orderBefore + " and are in " + orderAfter);
    }
  }

  private static void compareState(
      Map<String, String> before, Map<String, String> after, List<String> differences) {
    String step = describe(before);
    if (after == null) {
      differences.add(step + " is gone, but has state");
    } else if (!before.get(KIND).equals(after.get(KIND))) {
      differences.add(step + " has become a step of kind " + after.get(KIND) + ", but has state");
    } else {
      compareDurable(step, before, after, differences);
      if (!before.get(LEVELS).equals(after.get(LEVELS))) {
        differences.add(
            step + " was on level " + before.get(LEVELS) + " and is on level " + after.get(LEVELS)
                + ", as other shuffles are before it now; its state is kept by level");
      }
    }
  }

  private static String describe(Map<String, String> step) {
    return "step '" + step.get(NAME) + "' (" + step.get(KIND) + ")";
  }

  private static void compareDurable(
      String what, Map<String, String> before, Map<String, String> after, List<String> differences) {
    for (String field : DURABLE) {
      if (!Objects.equals(before.get(field), after.get(field))) {
        differences.add(
            String.format(
                "%s: its %s was %s and is %s",
                what,
                field,
                before.getOrDefault(field, "absent"),
                after.getOrDefault(field, "absent")));
      }
    }
  }

  private Map<String, Map<String, String>> byName() {
    Map<String, Map<String, String>> byName = new LinkedHashMap<>();
    steps.forEach(step -> byName.put(step.get(NAME), step));
    return byName;
  }

  private Map<String, Map<String, String>> sources() {
    Map<String, Map<String, String>> sources = byName();
    sources.values().removeIf(step -> !READ.equals(step.get(KIND)));
    return sources;
  }

  private static String escape(String value) {
    return value
        .replace("\\", "\\\\")
        .replace("\t", "\\t")
        .replace("\n", "\\n")
        .replace("\r", "\\r");
  }

  private static String unescape(String value, int line) {
    StringBuilder text = new StringBuilder(value.length());
    int from = 0;
    for (int at = value.indexOf('\\'); at >= 0; at = value.indexOf('\\', from)) {
      char escaped = at + 1 < value.length() ? value.charAt(at + 1) : ' ';
      text.append(value, from, at);
      switch (escaped) {
        case '\\' -> text.append('\\');
        case 't' -> text.append('\t');
        case 'n' -> text.append('\n');
        case 'r' -> text.append('\r');
        default ->
            throw new IllegalArgumentException(
                "Line " + line + " of the plan fingerprint has a backslash before '" + escaped + "'.");
      }
      from = at + 2;
    }
    text.append(value, from, value.length());
    return text.toString();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PlanFingerprint fingerprint && fingerprint.steps.equals(steps);
  }

  @Override
  public int hashCode() {
    return steps.hashCode();
  }

  @Override
  public String toString() {
    return encode();
  }
}
