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
package org.apache.beam.runners.spark.structuredstreaming.properties;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.nullValue;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.PipelineRegistry;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.OneTimeFaults;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.SparkCounting;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.metrics.Counter;
import org.apache.beam.sdk.metrics.MetricNameFilter;
import org.apache.beam.sdk.metrics.MetricResult;
import org.apache.beam.sdk.metrics.Metrics;
import org.apache.beam.sdk.metrics.MetricsFilter;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Bounded pipelines are one Spark job that is exact, can be cancelled and fails by its cause. */
@Timeout(180)
class BatchPipelineTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2,3]");

  private static final int ELEMENTS = 1000;

  /** More elements than anyone waits for. */
  private static final long ENDLESS = 1L << 40;

  private static final AtomicInteger SET_UP = new AtomicInteger();
  private static final AtomicInteger TORN_DOWN = new AtomicInteger();
  private static final AtomicInteger PROCESSED = new AtomicInteger();

  @TempDir Path directory;

  private static Pipeline pipeline(String name) {
    return Pipeline.create(SPARK.options("--streaming=false", "--jobName=" + name));
  }

  private static SparkStructuredStreamingPipelineResult start(Pipeline pipeline) {
    return (SparkStructuredStreamingPipelineResult) pipeline.run();
  }

  private static PCollection<Long> numbers(Pipeline pipeline) {
    return pipeline.apply("numbers", GenerateSequence.from(0).to(ELEMENTS));
  }

  private static PCollection<KV<Integer, Iterable<Long>>> groups(PCollection<Long> numbers) {
    return numbers
        .apply(WithKeys.of((Long n) -> (int) (n % 10)).withKeyType(TypeDescriptors.integers()))
        .apply(GroupByKey.create());
  }

  private static long size(Iterable<?> values) {
    long size = 0;
    for (Object ignored : values) {
      size++;
    }
    return size;
  }

  @Test
  void thereIsNothingToDrain() {
    Pipeline pipeline = pipeline("drained");
    numbers(pipeline);
    SparkStructuredStreamingPipelineResult result = start(pipeline);
    UnsupportedOperationException refused =
        assertThrows(UnsupportedOperationException.class, result::drain);
    assertThat(refused.getMessage(), containsString("cancel()"));
    assertThat(result.waitUntilFinish(), is(State.DONE));
    Pipeline drained =
        Pipeline.create(
            SPARK.options("--streaming=false", "--drain=true", "--checkpointDir=" + directory));
    numbers(drained);
    assertThat(
        assertThrows(IllegalArgumentException.class, drained::run).getMessage(),
        containsString("is run as batch"));
  }

  @Test
  void leavesAtAllDepthsAreOneJobAndReadTheSourceOnce() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    Pipeline pipeline = pipeline("one-job");
    PCollection<Long> numbers = numbers(pipeline).apply("counted", ParDo.of(new CountingFn()));
    numbers.apply(Count.globally()).apply("leaf 0", recorder.as("leaf 0"));
    groups(numbers)
        .apply(
            MapElements.into(TypeDescriptors.longs()).via(group -> size(group.getValue())))
        .apply(Count.perElement())
        .apply("leaf 1", recorder.as("leaf 1"));
    SparkStructuredStreamingPipelineResult result;
    try (SparkCounting counting = SparkCounting.of(SPARK)) {
      result = start(pipeline);
      assertThat(result.waitUntilFinish(), is(State.DONE));
      SparkCounting.Epoch job = counting.epochs().get(SparkCounting.NO_EPOCH);
      assertThat(job.jobs(), is(1));
      assertThat(job.stages(), hasSize(4));
      assertThat(counting.cachedRdds(), empty());
    }
    assertThat(recorder.values("leaf 0"), contains("1000"));
    assertThat(recorder.values("leaf 1"), contains("100=10"));
    assertThat(counted(result), is(new Counted(ELEMENTS, ELEMENTS)));
    assertThat(PipelineRegistry.find("one-job").orElseThrow().state(), is(State.DONE));
    assertThat(
        assertThrows(IllegalStateException.class, result::query).getMessage(),
        containsString("run as batch"));
  }

  @Test
  void countsAreExactWhenTasksFailAndRunAgain() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    Pipeline pipeline = pipeline("retried");
    PCollection<KV<Integer, Long>> sizes =
        groups(
                numbers(pipeline)
                    .apply("counted", ParDo.of(new CountingFn()))
                    .apply(faults.on("before", Set.of("77", "901"))))
            .apply(
                MapElements.into(
                        TypeDescriptors.kvs(TypeDescriptors.integers(), TypeDescriptors.longs()))
                    .via(group -> KV.of(group.getKey(), size(group.getValue()))))
            .apply(faults.on("behind", Set.of("3=100")));
    sizes
        .apply(Values.create())
        .apply(Count.perElement())
        .apply(recorder.as("sizes"));
    SparkStructuredStreamingPipelineResult result = start(pipeline);
    assertThat(result.waitUntilFinish(), is(State.DONE));
    assertThat(faults.happened("before"), is(2));
    assertThat(faults.happened("behind"), is(1));
    assertThat(recorder.values("sizes"), contains("100=10"));
    Counted counted = counted(result);
    assertThat(counted.committed(), is((long) ELEMENTS));
    assertThat(counted.attempted(), greaterThan((long) ELEMENTS));
  }

  /** Sessions are worked on in many small pieces, between which a task may turn to its output. */
  @Test
  void whatACombineFnCountsInSessionsIsExact() {
    Pipeline pipeline = pipeline("counting-sessions");
    numbers(pipeline)
        .apply(WithKeys.of((Long n) -> n.intValue()).withKeyType(TypeDescriptors.integers()))
        .apply(Window.into(Sessions.withGapDuration(Duration.standardSeconds(1))))
        .apply(Combine.perKey(new CountingSum()));
    SparkStructuredStreamingPipelineResult result = start(pipeline);
    assertThat(result.waitUntilFinish(), is(State.DONE));
    assertThat(counted(result), is(new Counted(ELEMENTS, ELEMENTS)));
  }

  /** Adds up, and counts its outputs. */
  private static final class CountingSum extends Combine.CombineFn<Long, Long, Long> {
    private final Counter counted = Metrics.counter(BatchPipelineTest.class, "counted");

    @Override
    public Long createAccumulator() {
      return 0L;
    }

    @Override
    public Long addInput(Long accumulator, Long input) {
      return accumulator + input;
    }

    @Override
    public Long mergeAccumulators(Iterable<Long> accumulators) {
      long sum = 0;
      for (long accumulator : accumulators) {
        sum += accumulator;
      }
      return sum;
    }

    @Override
    public Long extractOutput(Long accumulator) {
      counted.inc();
      return accumulator;
    }
  }

  private record Counted(long attempted, long committed) {}

  private static Counted counted(SparkStructuredStreamingPipelineResult result) {
    Iterable<MetricResult<Long>> counters =
        result
            .metrics()
            .queryMetrics(
                MetricsFilter.builder()
                    .addNameFilter(MetricNameFilter.named(BatchPipelineTest.class, "counted"))
                    .build())
            .getCounters();
    MetricResult<Long> only = counters.iterator().next();
    return new Counted(only.getAttempted(), only.getCommitted());
  }

  @Test
  void aDoFnThatFailsEndsThePipelineByItsOwnExceptionAndIsTornDown() {
    SET_UP.set(0);
    TORN_DOWN.set(0);
    Pipeline pipeline = pipeline("failing");
    numbers(pipeline).apply("poisoned", ParDo.of(new LifecycleFn(true)));
    SparkStructuredStreamingPipelineResult result = start(pipeline);
    Pipeline.PipelineExecutionException failure =
        assertThrows(Pipeline.PipelineExecutionException.class, result::waitUntilFinish);
    assertThat(failure.getCause().getMessage(), is("the poison"));
    assertThat(
        List.of(failure.getCause().getSuppressed()).toString(), containsString("poisoned"));
    assertThat(result.getState(), is(State.FAILED));
    assertThat(SET_UP.get(), greaterThan(0));
    Await.until(
        "every DoFn to be torn down",
        () -> TORN_DOWN.get() == SET_UP.get(),
        () -> SET_UP + " set up, " + TORN_DOWN + " torn down");
  }

  @Test
  void aPipelineThatRunsIsCancelled() {
    PROCESSED.set(0);
    SET_UP.set(0);
    TORN_DOWN.set(0);
    Pipeline pipeline = pipeline("cancelled");
    pipeline
        .apply(GenerateSequence.from(0).to(ENDLESS))
        .apply(ParDo.of(new LifecycleFn(false)));
    SparkStructuredStreamingPipelineResult result = start(pipeline);
    Await.until("elements", () -> PROCESSED.get() > 0, result::getState);
    assertThat(result.waitUntilFinish(Duration.millis(10)), is(nullValue()));
    assertThat(result.cancel(), is(State.CANCELLED));
    assertThat(result.waitUntilFinish(), is(State.CANCELLED));
    Await.until(
        "every DoFn to be torn down",
        () -> TORN_DOWN.get() == SET_UP.get(),
        () -> SET_UP + " set up, " + TORN_DOWN + " torn down");
    assertThat(SPARK.session().sparkContext().statusTracker().getActiveJobIds().length, is(0));
  }

  @Test
  void twoPipelinesOfOneNameAreRefused() {
    PROCESSED.set(0);
    Pipeline endless = pipeline("same-name");
    endless
        .apply(GenerateSequence.from(0).to(ENDLESS))
        .apply(ParDo.of(new LifecycleFn(false)));
    SparkStructuredStreamingPipelineResult first = start(endless);
    try {
      Pipeline second = pipeline("same-name");
      numbers(second);
      assertThat(
          assertThrows(IllegalStateException.class, second::run).getMessage(),
          containsString("same-name"));
    } finally {
      first.cancel();
    }
    assertThat(PipelineRegistry.running(), hasSize(0));
  }

  /** Counts what passes. */
  private static final class CountingFn extends DoFn<Long, Long> {
    private final Counter counted = Metrics.counter(BatchPipelineTest.class, "counted");

    @ProcessElement
    public void process(@Element Long number, OutputReceiver<Long> out) {
      counted.inc();
      out.output(number);
    }
  }

  /** Tells of its lifecycle, and fails in the middle if it is to. */
  static final class LifecycleFn extends DoFn<Long, Long> {
    private final boolean poisoned;

    LifecycleFn(boolean poisoned) {
      this.poisoned = poisoned;
    }

    @Setup
    public void setUp() {
      SET_UP.incrementAndGet();
    }

    @ProcessElement
    public void process(@Element Long number) {
      PROCESSED.incrementAndGet();
      if (poisoned && number == ELEMENTS / 2) {
        throw new IllegalArgumentException("the poison");
      }
    }

    @Teardown
    public void tearDown() {
      TORN_DOWN.incrementAndGet();
    }
  }
}
