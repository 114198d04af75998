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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepStatistics;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.SourceReport;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.TaskReport;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceMetricNames;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.joda.time.Instant;

/**
 * What the last epoch did, as Spark's progress and metrics report it. Told by the query's thread,
 * asked by any.
 */
public final class PipelineProgress {
  private final Plan plan;
  private Map<Integer, SourceProgress> sources = Map.of();
  private Map<Integer, StepProgress> steps = Map.of();
  private long epoch = -1;

  PipelineProgress(Plan plan) {
    this.plan = plan;
  }

  synchronized void epochDone(EpochReport report) {
    Map<Integer, List<SourceReport>> bySource = new HashMap<>();
    for (TaskReport task : report.tasks()) {
      if (task.source() != null) {
        bySource
            .computeIfAbsent(task.source().sourceIndex(), index -> new ArrayList<>())
            .add(task.source());
      }
    }
    Map<Integer, SourceProgress> newSources = new TreeMap<>();
    bySource.forEach((index, splits) -> newSources.put(index, SourceProgress.of(splits)));
    Map<Integer, List<StepStatistics>> byStep = new HashMap<>();
    for (StepStatistics partition : report.statistics()) {
      byStep.computeIfAbsent(partition.stepIndex(), index -> new ArrayList<>()).add(partition);
    }
    Map<Integer, StepProgress> newSteps = new TreeMap<>();
    byStep.forEach(
        (index, partitions) ->
            newSteps.put(
                index, StepProgress.of(plan.steps().get(index).fullName(), partitions)));
    sources = newSources;
    steps = newSteps;
    epoch = report.epoch();
  }

  /** The last epoch that has ended, -1 if none has. */
  public synchronized long epoch() {
    return epoch;
  }

  /** Progress of every keyed step in the last epoch, in the order of the plan. */
  public synchronized List<StepProgress> steps() {
    return List.copyOf(steps.values());
  }

  /** Progress of every source in the last epoch by its full name, in the order of the plan. */
  public synchronized Map<String, SourceProgress> sources() {
    Map<String, SourceProgress> named = new LinkedHashMap<>();
    for (ReadStep source : plan.sources()) {
      SourceProgress ofSource = sources.get(source.sourceIndex());
      if (ofSource != null) {
        named.put(source.fullName(), ofSource);
      }
    }
    return named;
  }

  /** Progress of a source in the last epoch, null before the first. */
  synchronized SourceProgress source(int sourceIndex) {
    return sources.get(sourceIndex);
  }

  /** Progress of a keyed step in the last epoch, null before the first. */
  synchronized StepProgress step(int stepIndex) {
    return steps.get(stepIndex);
  }

  synchronized Map<String, String> sourceMetrics(int sourceIndex) {
    SourceProgress source = sources.get(sourceIndex);
    Map<String, String> metrics = new HashMap<>();
    if (source == null) {
      return metrics;
    }
    metrics.put(SourceMetricNames.WATERMARK, text(source.watermarkMillis()));
    if (source.rows() > 0) {
      metrics.put(SourceMetricNames.MIN_EVENT_TIME, text(source.minEventTimeMillis()));
      metrics.put(SourceMetricNames.MAX_EVENT_TIME, text(source.maxEventTimeMillis()));
      metrics.put(SourceMetricNames.AVG_EVENT_TIME, text(source.averageEventTimeMillis()));
    }
    if (source.backlogBytes() >= 0) {
      metrics.put(SourceMetricNames.BACKLOG_BYTES, Long.toString(source.backlogBytes()));
    }
    return metrics;
  }

  /** Every number of every keyed step, as {@code full name / number -> text}. */
  synchronized Map<String, String> stepMetrics() {
    Map<String, String> metrics = new TreeMap<>();
    for (StepProgress step : steps.values()) {
      String prefix = step.fullName() + "/";
      metrics.put(prefix + "inputWatermark", text(step.inputWatermarkMillis()));
      metrics.put(prefix + "outputWatermark", text(step.outputWatermarkMillis()));
      metrics.put(prefix + "rowsIn", Long.toString(step.rowsIn()));
      metrics.put(prefix + "rowsOut", Long.toString(step.rowsOut()));
      metrics.put(prefix + "lateRows", Long.toString(step.lateRows()));
      metrics.put(prefix + "stateRows", Long.toString(step.stateRows()));
      metrics.put(prefix + "stateBytes", Long.toString(step.stateBytes()));
      if (step.backlog() >= 0) {
        metrics.put(prefix + "backlog", Long.toString(step.backlog()));
      }
      metrics.put(prefix + "timeMillis", Long.toString(step.timeMillis()));
    }
    return metrics;
  }

  private static String text(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }
}
