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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import java.util.Map;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.core.metrics.MetricsContainerStepMap;
import org.apache.beam.runners.core.metrics.MonitoringInfoConstants;
import org.apache.beam.runners.core.metrics.MonitoringInfoMetricName;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.metrics.MetricsEnvironment;
import org.apache.beam.sdk.metrics.MetricsEnvironment.MetricsEnvironmentState;

/**
 * The user metrics of one task in one epoch. Containers are new in every epoch, so what they hold
 * at the task's end is what this attempt added.
 *
 * <p>Bound to the task's thread by {@link #startEpoch}; not thread-safe.
 */
public final class TaskMetrics {
  private MetricsContainerStepMap containers = new MetricsContainerStepMap();
  private MetricsEnvironmentState environment;

  /** Starts over with empty containers, on the calling thread. */
  public void startEpoch() {
    containers = new MetricsContainerStepMap();
    environment = MetricsEnvironment.getMetricsEnvironmentStateForCurrentThread();
  }

  /** The container of a step in this epoch. */
  public MetricsContainerImpl container(String stepFullName) {
    return containers.getContainer(stepFullName);
  }

  /** Counts elements of a collection that a step has output, as Beam's own metric of that name. */
  public void countElements(String stepFullName, PlanCollection output, long elements) {
    if (elements > 0) {
      container(stepFullName)
          .getCounter(
              MonitoringInfoMetricName.named(
                  MonitoringInfoConstants.Urns.ELEMENT_COUNT,
                  Map.of(MonitoringInfoConstants.Labels.PCOLLECTION, output.name())))
          .inc(elements);
    }
  }

  /** Makes {@code container} the one that user code counts in, and returns the one before. */
  public MetricsContainer activate(MetricsContainer container) {
    return environment.activate(container);
  }

  /** What was counted since {@link #startEpoch}. */
  public MetricsContainerStepMap containers() {
    return containers;
  }
}
