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
import static org.hamcrest.Matchers.instanceOf;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;

/** When a query that fails again and again is given up, and when it is not. */
class RestartsTest {
  /** Longer than what a few restarts take: a pipeline that is not given up goes on for ever. */
  private static final Duration PATIENCE = Duration.millis(Runs.PATIENCE.toMillis());

  private static void assertGivenUp(Pipeline pipeline) {
    SparkStructuredStreamingPipelineResult result = Runs.start(pipeline);
    try {
      PipelineExecutionException failure =
          assertThrows(
              PipelineExecutionException.class, () -> result.waitUntilFinish(PATIENCE));
      assertThat(failure.getCause(), instanceOf(Faults.Injected.class));
      assertThat(result.getState(), is(State.FAILED));
    } finally {
      result.cancel();
    }
  }

  /** Between two failures there is always a committed epoch, in which nothing was read. */
  @Test
  void aPoisonElementBehindReadersThatHaveNothingAtFirst() {
    Feed feed = Feed.of(1).emptyAtFirst();
    FailsAt fails = new FailsAt(Set.of(1L), Integer.MAX_VALUE);
    Pipeline pipeline = Pipeline.create(Runs.options("--maxRestarts=2"));
    pipeline.apply("Numbers", Read.from(feed.source())).apply("Fails", ParDo.of(fails));
    assertGivenUp(pipeline);
    assertThat(fails.failures(), is(3));
  }

  /** The timer fires and is committed once between two failures. */
  @Test
  void aTimerByProcessingTimeThatGoesOnForEverAndFailsEverySecondTime() {
    TimerLoop loop = new TimerLoop();
    Pipeline pipeline = Pipeline.create(Runs.options("--maxRestarts=2"));
    pipeline
        .apply("Numbers", Read.from(Feed.of(1).source()))
        .apply(WithKeys.<Long, Long>of(0L).withKeyType(TypeDescriptors.longs()))
        .apply("Loop", ParDo.of(loop));
    assertGivenUp(pipeline);
    // The first failure comes in the start that has read the row.
    assertThat(loop.firings(), is(6));
  }

  @Test
  void rowsThatAreCommittedInBetweenBeginTheCountAnew() {
    Collected<Long> collected = new Collected<>();
    FailsAt fails = new FailsAt(Set.of(1L, 2L, 3L), 2);
    Pipeline pipeline =
        Pipeline.create(Runs.options("--maxRestarts=2", "--maxRecordsPerMicroBatch=1"));
    pipeline
        .apply("Numbers", Read.from(Feed.of(1, 2, 3).end().source()))
        .apply("Fails", ParDo.of(fails))
        .apply("Collect", ParDo.of(collected));
    assertThat(Runs.start(pipeline).waitUntilFinish(PATIENCE), is(State.DONE));
    assertThat(fails.failures(), is(6));
    assertThat(collected.list(), is(List.<Object>of(1L, 2L, 3L)));
  }

  /** Fails at certain numbers, at each for so many times. */
  private static final class FailsAt extends DoFn<Long, Long> {
    private static final Map<Integer, Map<Long, AtomicInteger>> FAILURES = new ConcurrentHashMap<>();

    private final int id = FAILURES.size();
    private final int times;

    FailsAt(Set<Long> numbers, int times) {
      this.times = times;
      Map<Long, AtomicInteger> failures = new ConcurrentHashMap<>();
      numbers.forEach(number -> failures.put(number, new AtomicInteger()));
      FAILURES.put(id, failures);
    }

    int failures() {
      return FAILURES.get(id).values().stream().mapToInt(AtomicInteger::get).sum();
    }

    @ProcessElement
    public void process(@Element Long number, OutputReceiver<Long> output) {
      AtomicInteger failures = FAILURES.get(id).get(number);
      if (failures != null && failures.get() < times) {
        failures.incrementAndGet();
        throw new Faults.Injected();
      }
      output.output(number);
    }
  }

  /** A timer that sets itself again and fails every second time that it fires in this JVM. */
  static final class TimerLoop extends DoFn<KV<Long, Long>, Long> {
    private static final Map<Integer, AtomicInteger> FIRINGS = new ConcurrentHashMap<>();

    private final int id = FIRINGS.size();

    @TimerId("loop")
    private final TimerSpec loop = TimerSpecs.timer(TimeDomain.PROCESSING_TIME);

    TimerLoop() {
      FIRINGS.put(id, new AtomicInteger());
    }

    int firings() {
      return FIRINGS.get(id).get();
    }

    @ProcessElement
    public void process(@TimerId("loop") Timer timer) {
      timer.offset(Duration.millis(1)).setRelative();
    }

    @OnTimer("loop")
    public void onLoop(@TimerId("loop") Timer timer) {
      if (FIRINGS.get(id).incrementAndGet() % 2 == 0) {
        throw new Faults.Injected();
      }
      timer.offset(Duration.millis(1)).setRelative();
    }
  }
}
