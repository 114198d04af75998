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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.JobFailed;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import scala.collection.JavaConverters;

/** Counts what Spark runs for each epoch, between its creation and {@link #close}. */
public final class SparkCounting extends SparkListener implements AutoCloseable {
  private static final String EPOCH_PROPERTY = "streaming.sql.batchId";

  /** Stands for the epoch of jobs that are not of a streaming query. */
  public static final long NO_EPOCH = -1;

  private static final long DRAIN_MILLIS = 30_000;

  private final SparkContext context;
  private final Map<Integer, Long> epochOfStage = new HashMap<>();
  private final Map<Long, Epoch> epochs = new TreeMap<>();
  private final Map<Integer, Long> epochOfJob = new HashMap<>();
  private final List<String> failedJobs = new ArrayList<>();
  private final Map<Integer, Integer> lastAttempts = new HashMap<>();
  private final Map<Integer, Set<String>> executors = new HashMap<>();

  /**
   * What ran for an epoch.
   *
   * @param jobs number of jobs
   * @param stages name and attempt of every stage that ran, in order
   * @param tasks number of tasks that ended, by the name of their stage
   */
  public record Epoch(int jobs, List<String> stages, Map<String, Integer> tasks) {}

  private SparkCounting(SparkContext context) {
    this.context = context;
  }

  /** Begins to count. */
  public static SparkCounting of(TestSpark spark) {
    SparkContext context = spark.session().sparkContext();
    SparkCounting counting = new SparkCounting(context);
    context.addSparkListener(counting);
    return counting;
  }

  /** Waits for Spark to have told everything so far, and returns it by the number of the epoch. */
  public Map<Long, Epoch> epochs() {
    drain();
    synchronized (this) {
      return new TreeMap<>(epochs);
    }
  }

  /** The greatest epoch that a job has begun to run. */
  public long lastEpoch() {
    drain();
    synchronized (this) {
      return epochs.keySet().stream().mapToLong(Long::longValue).max().orElse(-1);
    }
  }

  /** The epoch and failure of every job of an epoch that has failed. */
  public List<String> failedJobs() {
    drain();
    synchronized (this) {
      return List.copyOf(failedJobs);
    }
  }

  /** Ids of the executors on which tasks of an epoch's level have ended well, in any attempt. */
  public Set<String> executorsOf(long epoch, int level) {
    drain();
    synchronized (this) {
      return Set.copyOf(executors.getOrDefault(stageOf(epoch, level), Set.of()));
    }
  }

  /** The greatest attempt of the stage of an epoch's level, from 0; -1 if none was submitted. */
  public int lastAttempt(long epoch, int level) {
    drain();
    synchronized (this) {
      return lastAttempts.getOrDefault(stageOf(epoch, level), -1);
    }
  }

  /** Spark numbers a job's stages from the first to the last: a level's stage is at its own place. */
  private synchronized int stageOf(long epoch, int level) {
    return epochOfStage.entrySet().stream()
        .filter(stage -> stage.getValue() == epoch)
        .map(Map.Entry::getKey)
        .sorted()
        .skip(level)
        .findFirst()
        .orElse(-1);
  }

  private void drain() {
    try {
      context.listenerBus().waitUntilEmpty(DRAIN_MILLIS);
    } catch (TimeoutException e) {
      throw new IllegalStateException("Spark does not come to tell its listeners", e);
    }
  }

  @Override
  public synchronized void onJobStart(SparkListenerJobStart started) {
    String property = started.properties().getProperty(EPOCH_PROPERTY, Long.toString(NO_EPOCH));
    long number = Long.parseLong(property);
    Epoch epoch =
        epochs.getOrDefault(number, new Epoch(0, new ArrayList<>(), new TreeMap<>()));
    epochs.put(number, new Epoch(epoch.jobs() + 1, epoch.stages(), epoch.tasks()));
    epochOfJob.put(started.jobId(), number);
    for (StageInfo stage : JavaConverters.seqAsJavaList(started.stageInfos())) {
      epochOfStage.put(stage.stageId(), number);
    }
  }

  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    StageInfo stage = submitted.stageInfo();
    epochs
        .get(epochOfStage.get(stage.stageId()))
        .stages()
        .add(stage.stageId() + "." + stage.attemptNumber());
    lastAttempts.merge(stage.stageId(), stage.attemptNumber(), Math::max);
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
    epochs
        .get(epochOfStage.get(ended.stageId()))
        .tasks()
        .merge(Integer.toString(ended.stageId()), 1, Integer::sum);
    if (ended.taskInfo().successful()) {
      executors
          .computeIfAbsent(ended.stageId(), stage -> new TreeSet<>())
          .add(ended.taskInfo().executorId());
    }
  }

  @Override
  public synchronized void onJobEnd(SparkListenerJobEnd ended) {
    Long epoch = epochOfJob.get(ended.jobId());
    if (epoch != null && epoch >= 0 && ended.jobResult() instanceof JobFailed failed) {
      failedJobs.add(epoch + ": " + failed.exception());
    }
  }

  /** Ids of the RDDs that are cached now. */
  public Set<Integer> cachedRdds() {
    return Set.copyOf(
        JavaConverters.mapAsJavaMap(context.getPersistentRDDs()).keySet().stream()
            .map(id -> (Integer) id)
            .toList());
  }

  @Override
  public void close() {
    context.removeSparkListener(this);
  }
}
