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
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.is;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.metrics.Counter;
import org.apache.beam.sdk.metrics.Distribution;
import org.apache.beam.sdk.metrics.DistributionResult;
import org.apache.beam.sdk.metrics.Gauge;
import org.apache.beam.sdk.metrics.Metrics;
import org.apache.beam.sdk.metrics.StringSet;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.PCollection;
import org.junit.jupiter.api.Test;

/** Attempted and committed user metrics, with attempts that fail. */
class UserMetricsTest {
  private static final Map<String, AtomicInteger> FAILURES_LEFT = new ConcurrentHashMap<>();

  /** Counts in every way there is, and fails at 5 as often as the test says. */
  private static final class Counting extends DoFn<Long, Long> {
    private final String test;
    private final Counter counter = Metrics.counter("test", "counter");
    private final Distribution distribution = Metrics.distribution("test", "distribution");
    private final Gauge gauge = Metrics.gauge("test", "gauge");
    private final StringSet strings = Metrics.stringSet("test", "strings");

    Counting(String test, int failures) {
      this.test = test;
      FAILURES_LEFT.put(test, new AtomicInteger(failures));
    }

    @ProcessElement
    public void process(@Element Long number, OutputReceiver<Long> output) {
      counter.inc();
      distribution.update(number);
      gauge.set(number);
      strings.add(number % 2 == 0 ? "even" : "odd");
      if (number == 5 && FAILURES_LEFT.get(test).getAndDecrement() > 0) {
        throw new IllegalStateException("asked to fail");
      }
      output.output(number);
    }
  }

  private static SparkStructuredStreamingPipelineResult run(
      SparkStructuredStreamingPipelineOptions options, Feed feed, int failures) {
    Pipeline pipeline = Pipeline.create(options);
    PCollection<Long> counted =
        pipeline
            .apply("Numbers", Read.from(feed.source()))
            .apply("Count", ParDo.of(new Counting(options.getJobName(), failures)));
    counted.apply("LeafOne", ParDo.of(new Collected<>()));
    counted.apply("LeafTwo", ParDo.of(new Collected<>()));
    return Runs.start(pipeline);
  }

  private static Feed ten() {
    return Feed.of(LongStream.range(0, 10).toArray());
  }

  private static void checkCommitted(SparkStructuredStreamingPipelineResult result) {
    assertThat(Runs.counter(result, "counter").getCommitted(), is(10L));
    assertThat(
        Runs.metrics(result, "distribution").getDistributions().iterator().next().getCommitted(),
        is(DistributionResult.create(45, 10, 0, 9)));
    assertThat(
        Runs.metrics(result, "gauge").getGauges().iterator().next().getCommitted().getValue(),
        is(9L));
    assertThat(
        Runs.metrics(result, "strings").getStringSets().iterator().next().getCommitted()
            .getStringSet(),
        is(Set.of("even", "odd")));
  }

  @Test
  void withoutFailuresAttemptedIsCommitted() {
    SparkStructuredStreamingPipelineResult result = run(Runs.options(), ten().end(), 0);
    assertThat(result.waitUntilFinish(), is(State.DONE));
    checkCommitted(result);
    assertThat(Runs.counter(result, "counter").getAttempted(), is(10L));
    assertThat(Runs.metrics(result, "collected").getCounters().iterator().next().getCommitted(), is(10L));
  }

  @Test
  void aFailedAttemptOfATaskCountsAsAttemptedOnly() {
    Runs.stopSession();
    try {
      SparkStructuredStreamingPipelineResult result =
          run(Runs.options("--sparkMaster=local[2,3]", "--maxRestarts=0"), ten().end(), 1);
      assertThat(result.waitUntilFinish(), is(State.DONE));
      checkCommitted(result);
      assertThat(Runs.counter(result, "counter").getAttempted(), is(16L));
    } finally {
      Runs.stopSession();
    }
  }

  @Test
  void anEpochThatRunsAgainAfterARestartIsCommittedOnce() {
    SparkStructuredStreamingPipelineResult result = run(Runs.options(), ten().end(), 2);
    assertThat(result.waitUntilFinish(), is(State.DONE));
    checkCommitted(result);
    assertThat(Runs.counter(result, "counter").getAttempted(), is(22L));
  }

  @Test
  void theLastEpochIsCommittedWhenThePipelineIsCancelled() {
    SparkStructuredStreamingPipelineResult result =
        run(
            Runs.options("--triggerIntervalMillis=3600000", "--readerIdleTimeoutMillis=7200000"),
            ten(),
            0);
    Runs.await("the epoch", () -> result.progress().epoch() == 0);
    assertThat(result.cancel(), is(State.CANCELLED));
    checkCommitted(result);
  }

  @Test
  void epochsBeforeAFailureAreCommittedWhenThePipelineFails() {
    Feed feed = Feed.of(1, 2, 3);
    SparkStructuredStreamingPipelineResult result =
        run(Runs.options("--maxRestarts=0", "--maxIdlePauseMillis=20"), feed, 1);
    Runs.await(
        "the first numbers",
        () -> Runs.metrics(result, "collected").getCounters().iterator().hasNext());
    feed.add(4, 5);
    Runs.await("the failure", () -> result.getState() == State.FAILED);
    long committed = Runs.counter(result, "counter").getCommitted();
    assertThat(committed, greaterThanOrEqualTo(3L));
    // The epoch with 5 is not: 4 may have come in one before.
    assertThat(committed <= 4, is(true));
    assertThat(Runs.counter(result, "counter").getAttempted(), is(5L));
  }
}
