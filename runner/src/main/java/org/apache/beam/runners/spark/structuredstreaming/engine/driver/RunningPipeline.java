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

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.spark.sql.SparkSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pipeline from its start to its end, by whichever engine. A thread of its own follows it and decides
 * how it ends. Any thread may call any public method.
 */
public abstract class RunningPipeline {
  private static final Logger LOG = LoggerFactory.getLogger(RunningPipeline.class);

  private final SparkStructuredStreamingPipelineOptions options;
  private final SparkSession session;
  private final PipelineMetrics metrics = new PipelineMetrics();
  private final Instant startTime = Instant.now();
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile State state = State.RUNNING;
  private volatile Throwable failure;
  private volatile Instant endTime;

  /**
   * @param session acquired for the pipeline, which releases it at its end
   */
  RunningPipeline(SparkStructuredStreamingPipelineOptions options, SparkSession session) {
    this.options = options;
    this.session = session;
  }

  /** The name of the pipeline, its job name. */
  public final String name() {
    return options.getJobName();
  }

  public final State state() {
    return state;
  }

  /** Why the pipeline failed; null unless it has. */
  public final Throwable failure() {
    return failure;
  }

  /**
   * The failure for whoever waits for the pipeline, with the user's own exception as its cause. Only
   * of a pipeline that has failed.
   */
  public final PipelineExecutionException executionException() {
    return Failures.forWaiting(failure);
  }

  public final PipelineMetrics metrics() {
    return metrics;
  }

  public abstract PipelineSnapshot snapshot();

  /** Asks the pipeline to end. Returns at once. */
  public abstract void stop();

  /**
   * Lets the pipeline take in nothing more and end when all that it has taken in is processed. Returns
   * at once.
   *
   * @throws UnsupportedOperationException if it is run as batch
   */
  public abstract void drain();

  /**
   * Waits for the pipeline's end.
   *
   * @param limit how long at most, null for ever
   * @return the final state, or null if it goes on
   * @throws InterruptedException if the waiting thread is interrupted; the pipeline goes on
   */
  public final State awaitEnd(Duration limit) throws InterruptedException {
    if (limit == null) {
      ended.await();
    } else if (!ended.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
      return null;
    }
    return state;
  }

  /**
   * What no two running pipelines may share, the same for every spelling of the checkpoint directory;
   * null for a pipeline that has none.
   */
  abstract String checkpointIdentity();

  /**
   * Follows the pipeline to its end. Where it fails, {@link #failed} is told why, or it is what is
   * thrown.
   */
  abstract State runToEnd() throws InterruptedException;

  /** Removes what the pipeline has besides its session; called once, when it has ended. */
  abstract void cleanUp();

  final SparkStructuredStreamingPipelineOptions options() {
    return options;
  }

  final SparkSession session() {
    return session;
  }

  final void failed(Throwable why) {
    failure = why;
  }

  final PipelineSnapshot snapshot(String id, String runId, String checkpointLocation) {
    return new PipelineSnapshot(
        name(), id, runId, checkpointLocation, state, failure, startTime, endTime);
  }

  final Instant startTime() {
    return startTime;
  }

  /** Begins to follow the pipeline. */
  final void follow() {
    Thread thread = new Thread(this::followToEnd, "beam-pipeline-" + name());
    thread.setDaemon(true);
    thread.start();
  }

  private void followToEnd() {
    State end = State.FAILED;
    try {
      end = runToEnd();
    } catch (Throwable e) {
      // Whatever it is, whoever waits for the pipeline is to hear of it.
      failure = e;
      LOG.error("Pipeline {} has failed", name(), e);
    } finally {
      end(end);
    }
  }

  private void end(State end) {
    try {
      cleanUp();
      SparkSessions.release(session, options);
    } catch (RuntimeException e) {
      LOG.warn("Pipeline {} could not remove all that was its own", name(), e);
    } finally {
      endTime = Instant.now();
      state = end;
      PipelineRegistry.ended(this);
      LOG.info("Pipeline {} has ended as {}", name(), end);
      ended.countDown();
    }
  }
}
