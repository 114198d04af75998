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
package org.apache.beam.runners.spark.structuredstreaming.engine.task;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.util.AccumulatorV2;

/**
 * Carries the reports of tasks to the driver with the end of each task, failed ones included: Spark
 * sends nothing else from a task of a shuffle stage.
 *
 * <p>On the driver, Spark's scheduler thread adds while the query's thread takes.
 */
public final class ReportAccumulator extends AccumulatorV2<TaskReport, List<TaskReport>> {
  private final List<TaskReport> reports = new ArrayList<>();

  @Override
  public boolean isZero() {
    synchronized (reports) {
      return reports.isEmpty();
    }
  }

  @Override
  public AccumulatorV2<TaskReport, List<TaskReport>> copy() {
    ReportAccumulator copy = new ReportAccumulator();
    copy.addAll(value());
    return copy;
  }

  @Override
  public void reset() {
    synchronized (reports) {
      reports.clear();
    }
  }

  @Override
  public void add(TaskReport report) {
    synchronized (reports) {
      reports.add(report);
    }
  }

  @Override
  public void merge(AccumulatorV2<TaskReport, List<TaskReport>> other) {
    addAll(other.value());
  }

  @Override
  public List<TaskReport> value() {
    synchronized (reports) {
      return List.copyOf(reports);
    }
  }

  /** Takes the reports that have come in and leaves none. */
  public List<TaskReport> take() {
    synchronized (reports) {
      List<TaskReport> taken = List.copyOf(reports);
      reports.clear();
      return taken;
    }
  }

  private void addAll(List<TaskReport> more) {
    synchronized (reports) {
      reports.addAll(more);
    }
  }
}
