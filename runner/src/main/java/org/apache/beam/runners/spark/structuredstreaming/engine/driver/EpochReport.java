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
import java.util.Comparator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepStatistics;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.SourceReport;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.TaskReport;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * What an epoch did, of all its tasks: for every level and partition the report of the last
 * successful attempt, which is the one whose output Spark used.
 *
 * <p>A level reads what all lower levels have written, so its tasks start behind the last of theirs, and
 * attempt ids grow with time. An epoch is of one run if that holds for the attempts that count:
 *
 * <pre>
 * max over p of attempt(j, p) &lt; min over p of attempt(k, p)   for all levels j &lt; k
 * </pre>
 *
 * <p>Spark sees to it where a task finds that what it wants to read is lost. But where an executor is lost
 * when level {@code k} has read all of level {@code j}, and level {@code k + 1} is still to come, Spark runs
 * level {@code j} again and leaves level {@code k} as it is: then the one has read, say, other records than
 * those that the other was made of.
 */
public final class EpochReport {
  private final long epoch;
  private final List<TaskReport> tasks;

  private EpochReport(long epoch, List<TaskReport> tasks) {
    this.epoch = epoch;
    this.tasks = tasks;
  }

  /**
   * @param reports all that came in, those of failed attempts and of other epochs too
   */
  static EpochReport of(long epoch, List<TaskReport> reports) {
    Set<Long> failed =
        reports.stream()
            .filter(report -> !report.succeeded())
            .map(TaskReport::attempt)
            .collect(Collectors.toSet());
    Map<Long, TaskReport> last = new TreeMap<>();
    for (TaskReport report : reports) {
      // One that failed when its output was written has said first that it succeeded.
      if (report.epoch() == epoch && report.succeeded() && !failed.contains(report.attempt())) {
        long place = (long) report.level() << 32 | report.partition();
        last.merge(
            place, report, (a, b) -> Comparator.comparingLong(TaskReport::attempt).compare(a, b) > 0 ? a : b);
      }
    }
    return new EpochReport(epoch, List.copyOf(last.values()));
  }

  public long epoch() {
    return epoch;
  }

  /** By level, then by partition. */
  public List<TaskReport> tasks() {
    return tasks;
  }

  /** Whether every level has read what the last runs of the levels below have written. */
  public boolean isOfOneRun() {
    long lastOfLower = Long.MIN_VALUE;
    long lastOfLevel = Long.MIN_VALUE;
    int level = 0;
    for (TaskReport task : tasks) {
      if (task.level() != level) {
        level = task.level();
        lastOfLower = lastOfLevel;
      }
      if (task.attempt() < lastOfLower) {
        return false;
      }
      lastOfLevel = Math.max(lastOfLevel, task.attempt());
    }
    return true;
  }

  /** Elements that all sources read. */
  public long rowsRead() {
    return sources().mapToLong(SourceReport::rows).sum();
  }

  /** Nanoseconds that the longest task of level 0 read for. */
  public long longestReadNanos() {
    return sources().mapToLong(SourceReport::readNanos).max().orElse(0);
  }

  private Stream<SourceReport> sources() {
    return tasks.stream().map(TaskReport::source).filter(Objects::nonNull);
  }

  /**
   * Nanoseconds that the epoch must take for its elements and timers, whatever else it costs: for every
   * level the longest task, or all of them divided by the cores if that is more.
   */
  public long workNanos(int cores) {
    Map<Integer, LongSummaryStatistics> levels =
        tasks.stream()
            .collect(
                Collectors.groupingBy(
                    TaskReport::level, Collectors.summarizingLong(EpochReport::workNanos)));
    return levels.values().stream()
        .mapToLong(level -> Math.max(level.getMax(), level.getSum() / cores))
        .sum();
  }

  private static long workNanos(TaskReport task) {
    return (task.source() == null ? 0 : task.source().readNanos())
        + task.steps().stream().mapToLong(StepStatistics::nanos).sum();
  }

  /** Whether anything was read or came out of a keyed step: if not, the pipeline is at rest. */
  public boolean isActive() {
    return rowsRead() > 0 || statistics().stream().anyMatch(step -> step.rowsOut() > 0);
  }

  /** Whether a step has something to do in the next epoch, whatever its processing time. */
  public boolean hasPending() {
    return statistics().stream().anyMatch(StepStatistics::hasPending);
  }

  /** No timer by processing time is earlier; {@link Long#MAX_VALUE} if there is none. */
  public long earliestProcessingTimerMillis() {
    return statistics().stream()
        .mapToLong(StepStatistics::earliestProcessingTimerMillis)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Whether every source and every keyed step has come to the end of time. */
  public boolean isAtEndOfTime() {
    long end = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();
    return tasks.stream()
            .allMatch(task -> task.source() == null || task.source().watermarkMillis() >= end)
        && statistics().stream().allMatch(step -> step.outputWatermarkMillis() >= end);
  }

  /** What keyed steps did, one for each step and partition. */
  public List<StepStatistics> statistics() {
    List<StepStatistics> statistics = new ArrayList<>();
    tasks.forEach(task -> statistics.addAll(task.steps()));
    return statistics;
  }
}
