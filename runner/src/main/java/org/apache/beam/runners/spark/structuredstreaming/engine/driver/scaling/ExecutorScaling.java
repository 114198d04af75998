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

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.Interruption;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.LiveExecutors;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.ExecutorCacheTaskLocation;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.JavaConverters;
import scala.collection.immutable.Map$;

/**
 * Asks Spark for executors, and releases them, as the load of a pipeline says: {@link LoadAverage} says
 * what the load is, {@link ScalingPolicy} what it asks for, {@link ExecutorHoldings} which executor goes.
 *
 * <p>The query's thread decides, when an epoch is committed and before the next one is planned: no task
 * of the query runs then, so none is lost with an executor, and the next epoch is planned over the
 * executors that remain. What this takes is not counted as the next epoch's processing time.
 */
public final class ExecutorScaling {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorScaling.class);
  private static final String SPARKS_OWN = "spark.dynamicAllocation.enabled";
  private static final long PATIENCE_MILLIS = 10_000;
  private static final AtomicReference<ExecutorScaling> BEGUN = new AtomicReference<>();

  private final String pipelineName;
  private final SparkContext context;
  private final ExecutorAllocationClient client;
  private final AllocationCalls calls;
  private final ScalingPolicy policy;
  private final LoadAverage average;
  private final ExecutorHoldings holdings = new ExecutorHoldings();
  private volatile Followed followed;
  private volatile LoadAverage.Load lastLoad;
  private long lastEpoch = -1;
  private long decidedMillis;

  /** The query of a start of the pipeline. */
  private record Followed(StreamingQuery query, Farewell farewell) {}

  private ExecutorScaling(
      SparkStructuredStreamingPipelineOptions options,
      SparkContext context,
      ExecutorAllocationClient client) {
    this.pipelineName = options.getJobName();
    this.context = context;
    this.client = client;
    this.calls = new AllocationCalls(pipelineName, PATIENCE_MILLIS);
    this.policy =
        new ScalingPolicy(
            options.getDynamicAllocationScalingUpRatio(),
            options.getDynamicAllocationScalingDownRatio(),
            options.getDynamicAllocationMinExecutors(),
            options.getDynamicAllocationMaxExecutors());
    this.average =
        new LoadAverage(
            options.getDynamicAllocationScalingIntervalMillis(),
            options.getTriggerIntervalMillis(),
            System.nanoTime());
  }

  /**
   * Checks that a pipeline's executors are not to be scaled by two.
   *
   * @throws IllegalArgumentException if Spark scales them itself
   */
  public static void refuseBesideSparks(
      SparkStructuredStreamingPipelineOptions options, SparkContext context) {
    if (options.isDynamicAllocation() && context.getConf().getBoolean(SPARKS_OWN, false)) {
      throw new IllegalArgumentException(
          "--dynamicAllocation=true, but " + SPARKS_OWN + " is on in the Spark session: the one would"
              + " undo what the other does. Turn one of them off; Spark's goes by idle executors, which"
              + " a streaming pipeline hardly has.");
    }
  }

  /** The scaling of a pipeline; none if that is not asked for, or not possible. */
  public static Optional<ExecutorScaling> of(
      SparkStructuredStreamingPipelineOptions options, SparkContext context) {
    if (!options.isDynamicAllocation()) {
      return Optional.empty();
    }
    if (!(context.schedulerBackend() instanceof ExecutorAllocationClient client)) {
      LOG.warn(
          "Pipeline {} is not scaled by load, in spite of --dynamicAllocation=true: the cluster manager of"
              + " the master {} does not start and end executors on request",
          options.getJobName(),
          context.master());
      return Optional.empty();
    }
    return Optional.of(new ExecutorScaling(options, context, client));
  }

  /**
   * Begins to listen to Spark.
   *
   * @throws IllegalStateException if another pipeline of the Spark application is scaled by load
   */
  public void begin() {
    if (!BEGUN.compareAndSet(null, this)) {
      throw new IllegalStateException(
          "--dynamicAllocation=true, but another pipeline of this Spark application, "
              + BEGUN.get().pipelineName + ", has it too, and executors are the application's: each would"
              + " undo what the other does. Run " + pipelineName + " as an application of its own, or"
              + " without the option.");
    }
    context.addSparkListener(holdings);
    LOG.info(
        "Pipeline {} is scaled by load, between {} and {} executors: more from {} on, fewer up to {}",
        pipelineName,
        policy.minExecutors(),
        policy.maxExecutors(),
        policy.upRatio(),
        policy.downRatio());
  }

  /** Ends listening. Executors stay as they are. */
  public void end() {
    context.removeSparkListener(holdings);
    BEGUN.compareAndSet(this, null);
  }

  /** Goes by a query that has just been started, and no more by one that was before. */
  public void follow(StreamingQuery query, Farewell farewell) {
    holdings.follow(query.id().toString());
    followed = new Followed(query, farewell);
  }

  /** The load of the last interval; null before there was one. */
  public Double load() {
    LoadAverage.Load last = lastLoad;
    return last == null ? null : last.ratio();
  }

  /** How many executors there are that tasks may run on. */
  public int executors() {
    return activeExecutors().size();
  }

  /**
   * An epoch is committed, and the next one not planned. Called by the query's thread, for the same
   * epoch several times too.
   */
  public void epochCommitted(long epoch) {
    Followed now = followed;
    StreamingQueryProgress progress = now == null ? null : now.query().lastProgress();
    if (epoch == lastEpoch || progress == null || progress.batchId() != epoch) {
      return;
    }
    lastEpoch = epoch;
    // The pause of a pipeline at rest is part of the time in which Spark asks for offsets.
    long processingMillis =
        progress.durationMs().getOrDefault("triggerExecution", 0L)
            - progress.durationMs().getOrDefault("latestOffset", 0L)
            - decidedMillis;
    decidedMillis = 0;
    long startNanos = System.nanoTime();
    average
        .epochEnded(Math.max(0, processingMillis), startNanos)
        .ifPresent(load -> decide(load, epoch, now.farewell()));
    decidedMillis = (System.nanoTime() - startNanos) / 1_000_000;
  }

  private void decide(LoadAverage.Load load, long epoch, Farewell farewell) {
    lastLoad = load;
    List<String> active = activeExecutors();
    int change = policy.change(load.ratio(), active.size());
    LOG.info(
        "Pipeline {} has a load of {} after epoch {}, by a mean of {} ms over the last {} epochs, on {}"
            + " executors: {}",
        pipelineName,
        String.format(Locale.ROOT, "%.2f", load.ratio()),
        epoch,
        Math.round(load.meanMillis()),
        load.epochs(),
        active.size(),
        change == 0 ? "they stay" : change > 0 ? change + " more are asked for" : "one is released");
    try {
      if (change > 0) {
        request(active.size() + change);
      } else if (change < 0) {
        release(active, epoch, farewell);
      }
    } catch (InterruptedException e) {
      throw Interruption.rethrown(e);
    }
  }

  private List<String> activeExecutors() {
    return JavaConverters.seqAsJavaList(client.getExecutorIds()).stream()
        .filter(client::isExecutorActive)
        .toList();
  }

  /**
   * Makes the number of executors that the cluster manager is to keep up.
   *
   * @return whether it has answered
   */
  private boolean request(int executors) throws InterruptedException {
    Optional<Boolean> taken =
        calls.ask(
            executors + " executors",
            () -> context.requestTotalExecutors(executors, 0, Map$.MODULE$.<String, Object>empty()));
    if (taken.isPresent() && !taken.get()) {
      LOG.warn(
          "The cluster manager did not take the request of pipeline {} for {} executors; the next decision"
              + " repeats it if it is still wanted",
          pipelineName,
          executors);
    }
    return taken.isPresent();
  }

  private void release(List<String> active, long epoch, Farewell farewell)
      throws InterruptedException {
    String executor = holdings.leastHolding(active).orElseThrow();
    int held = holdings.held(executor);
    // First, or the cluster manager would start another one in its place.
    if (!request(active.size() - 1)) {
      return;
    }
    boolean inOrder = held == 0 || sayFarewell(executor, epoch, farewell);
    // One that runs tasks of somebody else's job is left alone.
    Optional<Boolean> released =
        calls.ask(
            "the end of executor " + executor,
            () ->
                !client
                    .killExecutors(
                        JavaConverters.asScalaBuffer(List.of(executor)).toSeq(), false, false, false)
                    .isEmpty());
    if (released.isEmpty()) {
      return;
    }
    if (!released.get()) {
      LOG.info("Executor {} runs tasks of another job and is not released", executor);
      request(active.size());
      return;
    }
    // Spark finds out some seconds later, and asks it for broadcasts and shuffles in vain until then.
    SparkEnv.get().blockManager().master().removeExecutorAsync(executor);
    LOG.info(
        "Pipeline {} has released executor {}, which held {} readers and partitions of state{}",
        pipelineName,
        executor,
        held,
        inOrder ? "" : "; they could not be closed before");
  }

  private static boolean sayFarewell(String executor, long epoch, Farewell farewell)
      throws InterruptedException {
    Optional<ExecutorCacheTaskLocation> place =
        LiveExecutors.places().stream().filter(live -> live.executorId().equals(executor)).findAny();
    return place.isPresent() && farewell.on(place.get(), epoch);
  }
}
