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

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.runners.core.metrics.MetricsContainerStepMap;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.TaskReport;
import org.apache.beam.sdk.metrics.MetricResults;
import org.apache.beam.sdk.metrics.MetricsContainer;

/**
 * The user metrics of a pipeline. Attempted values count what every attempt of a task counted;
 * committed ones, of each committed epoch, the attempts whose output was used.
 *
 * <p>Told by the query's thread, asked by any.
 */
public final class PipelineMetrics {
  private final MetricsContainerStepMap attempted = new MetricsContainerStepMap();
  private final MetricsContainerStepMap committed = new MetricsContainerStepMap();
  private final Map<Long, MetricsContainerStepMap> uncommitted = new TreeMap<>();
  private final MetricsContainerStepMap onDriver = new MetricsContainerStepMap();

  /**
   * Takes the reports of an epoch's tasks, whether its job succeeded or not.
   *
   * @return what counts of them
   */
  synchronized EpochReport epochEnded(long epoch, List<TaskReport> reports) {
    for (TaskReport report : reports) {
      attempted.updateAll(report.metrics());
    }
    EpochReport used = EpochReport.of(epoch, reports);
    MetricsContainerStepMap ofEpoch = new MetricsContainerStepMap();
    for (TaskReport report : used.tasks()) {
      ofEpoch.updateAll(report.metrics());
    }
    // An epoch that runs again replaces what it counted before.
    uncommitted.put(epoch, ofEpoch);
    return used;
  }

  /** Makes the counts of an epoch final. Repeated calls, and calls for unknown epochs, do nothing. */
  synchronized void epochCommitted(long epoch) {
    MetricsContainerStepMap ofEpoch = uncommitted.remove(epoch);
    if (ofEpoch != null) {
      committed.updateAll(ofEpoch);
    }
  }

  /** Makes final what epochs up to {@code epoch} have counted, of those not yet known as committed. */
  synchronized void committedUpTo(long epoch) {
    for (Long known : List.copyOf(uncommitted.keySet())) {
      if (known <= epoch) {
        epochCommitted(known);
      }
    }
  }

  /**
   * What a step counts on the driver, before the first epoch and outside all: it counts as attempted
   * and as committed at once.
   */
  MetricsContainer driverContainer(String stepFullName) {
    return onDriver.getContainer(stepFullName);
  }

  /** A snapshot. */
  public synchronized MetricResults results() {
    MetricsContainerStepMap attemptedCopy = new MetricsContainerStepMap();
    attemptedCopy.updateAll(attempted);
    attemptedCopy.updateAll(onDriver);
    MetricsContainerStepMap committedCopy = new MetricsContainerStepMap();
    committedCopy.updateAll(committed);
    committedCopy.updateAll(onDriver);
    return MetricsContainerStepMap.asMetricResults(attemptedCopy, committedCopy);
  }
}
