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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.scheduler.JobSucceeded$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import scala.collection.JavaConverters;

/**
 * What executors hold of a query, by where the tasks of its last epoch ran. Every epoch has a task for
 * each split, which leaves its reader, and one for each partition of each level, which leaves its state:
 *
 * <pre>
 * held(executor) = tasks of the last epoch that ended well there, the last of each partition
 * </pre>
 *
 * <p>Told by Spark's listener bus, asked by the query's thread. What an epoch's job did counts when the
 * bus has told of its end, and not before: an executor never looks idle because news is late.
 */
final class ExecutorHoldings extends SparkListener {
  private static final String QUERY_PROPERTY = "sql.streaming.queryId";

  private String query;
  private int job = -1;
  private final Set<Integer> stages = new HashSet<>();
  private final Map<Long, String> ofJob = new HashMap<>();
  private Map<String, Integer> held = Map.of();

  /** Looks at the jobs of a query from now on. */
  synchronized void follow(String queryId) {
    query = queryId;
  }

  @Override
  public synchronized void onJobStart(SparkListenerJobStart started) {
    if (query != null && query.equals(started.properties().getProperty(QUERY_PROPERTY))) {
      job = started.jobId();
      ofJob.clear();
      stages.clear();
      JavaConverters.seqAsJavaList(started.stageInfos()).forEach(stage -> stages.add(stage.stageId()));
    }
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
    if (stages.contains(ended.stageId()) && ended.taskInfo().successful()) {
      long partition = (long) ended.stageId() << Integer.SIZE | ended.taskInfo().index();
      ofJob.put(partition, ended.taskInfo().executorId());
    }
  }

  @Override
  public synchronized void onJobEnd(SparkListenerJobEnd ended) {
    if (ended.jobId() == job && ended.jobResult() == JobSucceeded$.MODULE$) {
      Map<String, Integer> counts = new HashMap<>();
      ofJob.values().forEach(executor -> counts.merge(executor, 1, Integer::sum));
      held = counts;
    }
  }

  /** How many readers and partitions of state an executor holds. */
  synchronized int held(String executor) {
    return held.getOrDefault(executor, 0);
  }

  /** The executor that holds least, of several the one that came last; none if there is none. */
  synchronized Optional<String> leastHolding(Collection<String> executors) {
    return leastHolding(executors, held);
  }

  /**
   * The executor that holds least.
   *
   * @param held what executors hold, nothing where they are not named
   */
  static Optional<String> leastHolding(Collection<String> executors, Map<String, Integer> held) {
    return executors.stream()
        .min(
            Comparator.<String>comparingInt(executor -> held.getOrDefault(executor, 0))
                // Spark numbers them: the longer text is the greater number.
                .thenComparing(Comparator.comparingInt(String::length).reversed())
                .thenComparing(Comparator.reverseOrder()));
  }
}
