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
package org.apache.beam.runners.spark.structuredstreaming;

import java.time.Duration;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.PipelineProgress;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.RunningPipeline;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.StreamingPipeline;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult;
import org.apache.beam.sdk.metrics.MetricResults;
import org.apache.spark.sql.streaming.StreamingQuery;

/** A pipeline that the {@link SparkStructuredStreamingRunner} has started. Any thread may use it. */
public final class SparkStructuredStreamingPipelineResult implements PipelineResult {
  private final RunningPipeline pipeline;

  SparkStructuredStreamingPipelineResult(RunningPipeline pipeline) {
    this.pipeline = pipeline;
  }

  @Override
  public State getState() {
    return pipeline.state();
  }

  /**
   * Lets the running epoch finish and be committed, ends the query and returns when that is done; a
   * batch ends at once. An epoch that takes longer than {@code --cancelTimeoutMillis} is broken off, as
   * if the pipeline had failed in it. The checkpoint can be gone on with. A pipeline that has ended
   * already stays what it is. Neither a long trigger interval nor the pause of an idle pipeline delays
   * it.
   *
   * <p>What is broken off is interrupted. A DoFn that does not heed that goes on in its thread of an
   * executor, which it keeps from other work until it returns; its task then ends and leaves nothing
   * durable.
   *
   * @return the state the pipeline has ended in: CANCELLED, unless it ended otherwise before
   */
  @Override
  public State cancel() {
    pipeline.stop();
    return await(null);
  }

  /**
   * Lets the pipeline take in nothing more and come to its end, DONE, when all that it has taken in is
   * processed. Returns at once; {@link #waitUntilFinish} waits for the end.
   *
   * <p>From the next epoch on that begins:
   *
   * <ul>
   *   <li>unbounded sources read nothing, keep their position as their mark, and are at the end of time;
   *       bounded ones are read to their end;
   *   <li>what is left of every element of a splittable DoFn, and every element that still comes to one,
   *       is truncated once by {@code @TruncateRestriction}, without which a bounded restriction stays
   *       whole and an unbounded one is dropped, and the rest is processed to its end;
   *   <li>so watermarks come to the end of time: windows close, timers by event time fire, and those by
   *       processing time as where a source ends by itself.
   * </ul>
   *
   * <p>The first such epoch is noted in the checkpoint before it begins. From then on the pipeline goes
   * on draining after every failure and restart, by the runner or by a new run. Asked for again, or of a
   * pipeline that has ended, it changes nothing. {@link #cancel} still ends the pipeline at once.
   *
   * @throws UnsupportedOperationException of a pipeline that is run as batch, which ends by itself
   */
  public void drain() {
    pipeline.drain();
  }

  /**
   * Waits for the end for at most {@code duration}; zero and less wait for ever.
   *
   * @return the state the pipeline has ended in, or null if it goes on
   * @throws PipelineExecutionException if the pipeline has failed, with the user's exception as its
   *     cause where the user's code failed. One of the suppressed exceptions of that names the step
   * @throws IllegalStateException if the calling thread is interrupted, with the {@link
   *     InterruptedException} as cause and the thread's interrupted status set. The pipeline goes on:
   *     whoever wants it to end calls {@link #cancel}. As with other runners an interruption is not
   *     passed off as the end of the time, which null stands for
   */
  @Override
  public State waitUntilFinish(org.joda.time.Duration duration) {
    Duration limit =
        duration.getMillis() > 0 ? Duration.ofMillis(duration.getMillis()) : null;
    State state = await(limit);
    if (state == State.FAILED) {
      throw pipeline.executionException();
    }
    return state;
  }

  /** As {@link #waitUntilFinish(org.joda.time.Duration)} without a limit. */
  @Override
  public State waitUntilFinish() {
    return waitUntilFinish(org.joda.time.Duration.ZERO);
  }

  /**
   * Attempted and committed values of what the user's code has counted. Those of the last epoch are
   * committed when {@link #waitUntilFinish()} or {@link #cancel} returns.
   */
  @Override
  public MetricResults metrics() {
    return pipeline.metrics().results();
  }

  /**
   * The pipeline's query, as {@code spark.streams()} has it; another one after a restart.
   *
   * @throws IllegalStateException of a pipeline that is run as batch
   */
  public StreamingQuery query() {
    return streaming().query();
  }

  /**
   * What the last epoch did.
   *
   * @throws IllegalStateException of a pipeline that is run as batch
   */
  public PipelineProgress progress() {
    return streaming().progress();
  }

  /**
   * Spark's progress of the last epoch as JSON: sources by full name with rows, watermark, event
   * times and backlog; keyed steps among the metrics of the sink. Null before the first epoch; after
   * the end that of the last one.
   *
   * @throws IllegalStateException of a pipeline that is run as batch
   */
  public String progressJson() {
    return streaming().progressJson();
  }

  private StreamingPipeline streaming() {
    if (pipeline instanceof StreamingPipeline streaming) {
      return streaming;
    }
    throw new IllegalStateException(
        "The pipeline " + pipeline.name() + " is run as batch and has no streaming query.");
  }

  private State await(Duration limit) {
    try {
      return pipeline.awaitEnd(limit);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(
          "Interrupted while waiting for the pipeline " + pipeline.name() + ", which goes on.", e);
    }
  }
}
