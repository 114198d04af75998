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
package org.apache.beam.runners.spark.structuredstreaming.operations;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasProperty;
import static org.hamcrest.Matchers.instanceOf;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;
import static org.hamcrest.Matchers.nullValue;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.PipelineRegistry;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** States, waits, cancelling and failures, as the result of a pipeline gives them. */
class PipelineResultTest {
  private static final Duration PATIENCE = Duration.millis(Runs.PATIENCE.toMillis());
  private static final Duration HOUR = Duration.standardHours(1);
  private static final AtomicReference<Gate> GATE = new AtomicReference<>();

  /** Where a DoFn waits for the test. */
  private static final class Gate {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);
  }

  private static final class WaitAtGate extends DoFn<Long, Long> {
    @ProcessElement
    public void process(@Element Long number, OutputReceiver<Long> output) throws Exception {
      Gate gate = GATE.get();
      gate.reached.countDown();
      gate.open.await(Runs.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      output.output(number);
    }
  }

  private static SparkStructuredStreamingPipelineResult start(
      Feed feed, Collected<Long> collected, String... options) {
    Pipeline pipeline = Pipeline.create(Runs.options(options));
    pipeline.apply("Numbers", Read.from(feed.source())).apply("Collect", ParDo.of(collected));
    return Runs.start(pipeline);
  }

  @Test
  void aWaitThatIsOverGivesNullAndThePipelineGoesOn() {
    Feed feed = Feed.of(1);
    Collected<Long> collected = new Collected<>();
    SparkStructuredStreamingPipelineResult result = start(feed, collected);
    assertThat(result.getState(), is(State.RUNNING));
    assertThat(result.waitUntilFinish(Duration.millis(500)), nullValue());
    assertThat(result.getState(), is(State.RUNNING));
    assertThat(result.query().isActive(), is(true));
    feed.add(2).end();
    assertThat(result.waitUntilFinish(Duration.ZERO), is(State.DONE));
    assertThat(result.getState(), is(State.DONE));
    assertThat(collected.list(), is(List.<Object>of(1L, 2L)));
    assertThat(result.cancel(), is(State.DONE));
  }

  @Test
  void aNegativeWaitIsForEver() {
    SparkStructuredStreamingPipelineResult result =
        start(Feed.of(1).end(), new Collected<>());
    assertThat(result.waitUntilFinish(Duration.millis(-1)), is(State.DONE));
    assertThat(Runs.counter(result, "collected").getCommitted(), is(1L));
  }

  @Test
  void theEpochThatRunsWhenCancelledIsCommitted() throws Exception {
    GATE.set(new Gate());
    Feed feed = Feed.of(1, 2);
    Collected<Long> collected = new Collected<>();
    Pipeline pipeline = Pipeline.create(Runs.options());
    pipeline
        .apply("Numbers", Read.from(feed.source()))
        .apply("Gate", ParDo.of(new WaitAtGate()))
        .apply("Collect", ParDo.of(collected));
    SparkStructuredStreamingPipelineResult result = Runs.start(pipeline);
    GATE.get().reached.await();
    CompletableFuture<State> cancelled = CompletableFuture.supplyAsync(result::cancel);
    assertThat(result.waitUntilFinish(Duration.millis(200)), nullValue());
    GATE.get().open.countDown();
    assertThat(cancelled.get(60, TimeUnit.SECONDS), is(State.CANCELLED));
    assertThat(result.waitUntilFinish(), is(State.CANCELLED));
    assertThat(collected.list(), is(List.<Object>of(1L, 2L)));
    assertThat(Runs.counter(result, "collected").getCommitted(), is(2L));
    assertThat(feed.closed(), is(feed.opened()));
  }

  @Test
  void cancelDoesNotWaitForTheNextTrigger() {
    Feed feed = Feed.of(1);
    Collected<Long> collected = new Collected<>();
    SparkStructuredStreamingPipelineResult result =
        start(
            feed,
            collected,
            "--triggerIntervalMillis=" + HOUR.getMillis(),
            "--readerIdleTimeoutMillis=" + 2 * HOUR.getMillis());
    Runs.await("the first epoch", () -> result.progress().epoch() == 0);
    long start = System.nanoTime();
    assertThat(result.cancel(), is(State.CANCELLED));
    assertThat(seconds(start), lessThan(30L));
    assertThat(Runs.counter(result, "collected").getCommitted(), is(1L));
  }

  @Test
  void thatAllIsDoneDoesNotWaitForTheNextTrigger() {
    SparkStructuredStreamingPipelineResult result =
        start(
            Feed.of(1).end(),
            new Collected<>(),
            "--triggerIntervalMillis=" + HOUR.getMillis(),
            "--readerIdleTimeoutMillis=" + 2 * HOUR.getMillis());
    assertThat(result.waitUntilFinish(Duration.standardMinutes(2)), is(State.DONE));
    assertThat(Runs.counter(result, "collected").getCommitted(), is(1L));
  }

  @Test
  void cancelDoesNotWaitForThePauseOfAnIdlePipeline() {
    SparkStructuredStreamingPipelineResult result =
        start(Feed.of(), new Collected<>(), "--maxIdlePauseMillis=3600000");
    Runs.await("some idle epochs", () -> result.progress().epoch() >= 2);
    long start = System.nanoTime();
    assertThat(result.cancel(), is(State.CANCELLED));
    assertThat(seconds(start), lessThan(30L));
  }

  @Test
  void anInterruptedWaitSaysSoAndThePipelineGoesOn() {
    SparkStructuredStreamingPipelineResult result = start(Feed.of(), new Collected<>());
    Thread.currentThread().interrupt();
    IllegalStateException thrown =
        assertThrows(IllegalStateException.class, result::waitUntilFinish);
    assertThat(Thread.interrupted(), is(true));
    assertThat(thrown.getCause(), instanceOf(InterruptedException.class));
    assertThat(result.getState(), is(State.RUNNING));
    assertThat(result.cancel(), is(State.CANCELLED));
  }

  @ParameterizedTest
  @EnumSource
  void aFailureHasTheUsersOwnExceptionAsItsCause(Thrown thrown) {
    Pipeline pipeline = Pipeline.create(Runs.options("--maxRestarts=1"));
    pipeline
        .apply("Numbers", Read.from(Feed.of(1).source()))
        .apply("Fails", ParDo.of(new Failing(thrown)));
    SparkStructuredStreamingPipelineResult result = Runs.start(pipeline);
    PipelineExecutionException failure =
        assertThrows(PipelineExecutionException.class, () -> result.waitUntilFinish(PATIENCE));
    assertThat(result.getState(), is(State.FAILED));
    assertThat(failure.getCause(), thrown.isExpected());
    // The JVM makes the stack overflow without room for others to join it.
    Throwable named = thrown == Thrown.STACK_OVERFLOW ? failure : failure.getCause();
    assertThat(
        List.of(named.getSuppressed()),
        hasItem(hasProperty("message", containsString("Fails/"))));
    StringWriter logged = new StringWriter();
    String name = pipeline.getOptions().getJobName();
    PipelineRegistry.find(name).orElseThrow().failure().printStackTrace(new PrintWriter(logged));
    assertThat(logged.toString(), containsString("Fails/"));
    assertThat(failure.getCause().getStackTrace().length, greaterThan(0));
  }

  @ParameterizedTest
  @EnumSource(names = {"UNCHECKED", "CHECKED"}, mode = EnumSource.Mode.EXCLUDE)
  void whatAReaderThrowsIsAFailure(Thrown thrown) {
    Feed feed = Feed.of(1).failAt(Feed.Point.GET_CURRENT, thrown::make);
    SparkStructuredStreamingPipelineResult result =
        start(feed, new Collected<>(), "--maxRestarts=0");
    PipelineExecutionException failure =
        assertThrows(PipelineExecutionException.class, () -> result.waitUntilFinish(PATIENCE));
    assertThat(failure.getCause(), thrown.isExpected());
    assertThat(feed.closed(), is(feed.opened()));
  }

  @ParameterizedTest
  @EnumSource(names = {"CYCLE_OF_CAUSES", "LONG_CHAIN_OF_CAUSES"})
  void whatASourceThrowsWhenItIsSplitIsAFailure(Thrown thrown) {
    Feed feed = Feed.of(1).failAt(Feed.Point.SPLIT, thrown::make);
    SparkStructuredStreamingPipelineResult result =
        start(feed, new Collected<>(), "--maxRestarts=0");
    PipelineExecutionException failure =
        assertThrows(PipelineExecutionException.class, () -> result.waitUntilFinish(PATIENCE));
    assertThat(failure.getCause(), thrown.isExpected());
  }

  private static long seconds(long startNanos) {
    return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
  }
}
