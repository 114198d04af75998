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
package org.apache.beam.runners.spark.structuredstreaming.scaling;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;
import static org.hamcrest.Matchers.not;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling.ExecutorScaling;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource;
import org.apache.beam.runners.spark.structuredstreaming.scaling.Steering.OpenedReader;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.EpochLog;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.SparkCounting;
import org.apache.beam.runners.spark.structuredstreaming.testing.StandaloneCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.state.CombiningState;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.source.Source;
import org.joda.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import scala.collection.immutable.Map$;

/** Executors of a real cluster come and go with the load of a pipeline, and nothing is lost by that. */
@Timeout(600)
class ScalingByLoadTest {
  private static final int MOST = 3;

  @RegisterExtension @Order(1) static final StandaloneCluster CLUSTER = StandaloneCluster.of(MOST, 1);

  @RegisterExtension @Order(2)
  static final TestSpark SPARK = CLUSTER.session().with("spark.executor.memory", "512m");

  @TempDir Path directory;

  /** What a test has released comes back when it is asked for, and not before. */
  @BeforeEach
  void awaitMostExecutors() {
    SPARK.session().sparkContext().requestTotalExecutors(MOST, 0, Map$.MODULE$.<String, Object>empty());
    LocalCluster.awaitExecutors(SPARK, MOST);
  }

  /** Keeps its core busy with every record for as long as the test says. */
  private static final class WorkFn extends DoFn<KV<Integer, Long>, KV<Integer, Long>> {
    private final Steering steering;

    WorkFn(Steering steering) {
      this.steering = steering;
    }

    @ProcessElement
    public void process(
        @Element KV<Integer, Long> record, OutputReceiver<KV<Integer, Long>> output) {
      long end = System.nanoTime() + steering.load() * 1_000_000;
      while (System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      output.output(record);
    }
  }

  /** Keeps number and sum of a key's values, and gives them at the end of time. */
  static final class TotalsFn extends DoFn<KV<Integer, Long>, String> {
    @StateId("count")
    private final StateSpec<CombiningState<Long, long[], Long>> countSpec =
        StateSpecs.combining(Sum.ofLongs());

    @StateId("sum")
    private final StateSpec<CombiningState<Long, long[], Long>> sumSpec =
        StateSpecs.combining(Sum.ofLongs());

    @StateId("key")
    private final StateSpec<CombiningState<Long, long[], Long>> keySpec =
        StateSpecs.combining(Sum.ofLongs());

    @ProcessElement
    public void process(
        @Element KV<Integer, Long> record,
        @StateId("count") CombiningState<Long, long[], Long> count,
        @StateId("sum") CombiningState<Long, long[], Long> sum,
        @StateId("key") CombiningState<Long, long[], Long> key) {
      count.add(1L);
      sum.add(record.getValue());
      key.add((long) record.getKey());
    }

    @OnWindowExpiration
    public void onWindowExpiration(
        @StateId("count") CombiningState<Long, long[], Long> count,
        @StateId("sum") CombiningState<Long, long[], Long> sum,
        @StateId("key") CombiningState<Long, long[], Long> key,
        OutputReceiver<String> output) {
      output.output(totals((int) (key.read() / count.read()), count.read(), sum.read()));
    }
  }

  private static String totals(int key, long count, long sum) {
    return key + ": " + count + " records, in all " + sum;
  }

  /** What the splits have given, by key. */
  private static List<String> expected(Steering steering) {
    Map<Integer, long[]> byKey = new TreeMap<>();
    for (int split = 0; split < SteeredSource.SPLITS; split++) {
      for (long number = 0; number < steering.recordsOf(split); number++) {
        long[] ofKey = byKey.computeIfAbsent(SteeredSource.key(split, number), key -> new long[2]);
        ofKey[0]++;
        ofKey[1] += number;
      }
    }
    return byKey.entrySet().stream()
        .map(key -> totals(key.getKey(), key.getValue()[0], key.getValue()[1]))
        .sorted()
        .toList();
  }

  private RestartHarness harness(Steering steering, Recorder recorder, String... options) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint"),
        (Pipeline pipeline) ->
            pipeline
                .apply("records", Read.from(new SteeredSource(steering)))
                .apply("work", ParDo.of(new WorkFn(steering)))
                .apply("totals", ParDo.of(new TotalsFn()))
                .apply(recorder.as("all")),
        options);
  }

  /**
   * The load is little, much and little again. At most a third of what one executor has to do when it
   * is much is left to each of three.
   */
  @Test
  void executorsComeAndGoWithTheLoadAndNothingIsLost() throws IOException {
    Steering steering = new Steering(directory.resolve("steering"));
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    try (Fleet fleet = Fleet.of(SPARK);
        SparkCounting counting = SparkCounting.of(SPARK);
        EpochLog log = EpochLog.of(SPARK)) {
      SparkStructuredStreamingPipelineResult result =
          harness(
                  steering,
                  recorder,
                  "--jobName=scaled",
                  "--parallelism=3",
                  "--sourceSplits=" + SteeredSource.SPLITS,
                  "--maxRestarts=0",
                  "--triggerIntervalMillis=4000",
                  "--dynamicAllocation=true",
                  "--dynamicAllocationScalingIntervalMillis=3500",
                  "--dynamicAllocationScalingDownRatio=0.8",
                  "--dynamicAllocationMinExecutors=1",
                  "--dynamicAllocationMaxExecutors=" + MOST)
              .start();
      try {
        await("the first release", result, fleet, () -> fleet.size() == MOST - 1);
        assertReadersOfEndedProcessesAreFinalized(steering);
        await("the fewest executors", result, fleet, () -> fleet.size() == 1);
        steering.setLoad(1500);
        await("the most executors", result, fleet, () -> fleet.size() == MOST);
        await("readers and state on all", result, fleet, () -> isSpread(counting));
        await(
            "the end of readers that moved",
            result,
            fleet,
            () -> openReaders(steering).size() == SteeredSource.SPLITS);
        assertThat(gauge("executors"), is(MOST));
        assertThat((Double) gauge("load"), is(greaterThan(0.0)));
        steering.setLoad(0);
        await("the fewest executors again", result, fleet, () -> fleet.size() == 1);
        steering.end();
        RestartHarness.finish(result);
      } finally {
        result.cancel();
      }
      assertThat(fleet.sizes(), everyItem(is(greaterThanOrEqualTo(1))));
      assertThat(fleet.sizes(), everyItem(is(lessThanOrEqualTo(MOST))));
      assertThat("tasks that failed", fleet.failedTasks(), empty());
      assertThat("failed jobs", counting.failedJobs(), empty());
      assertThat("starts of the query", log.queryStarts(), is(1));
    }
    assertThat(recorder.values("all"), is(expected(steering)));
    assertThat("readers that were not closed", openReaders(steering), empty());
  }

  /** The last epoch behind which an executor was released, from what the engine logs of it. */
  private static final class ReleaseLog extends AbstractAppender implements AutoCloseable {
    private final Logger logger = (Logger) LogManager.getLogger(ExecutorScaling.class);
    private final Level level = logger.getLevel();
    private final SparkCounting counting;
    private volatile long epoch = -1;

    ReleaseLog(SparkCounting counting) {
      super("releases", null, null, true, Property.EMPTY_ARRAY);
      this.counting = counting;
      start();
      // This order: adding an appender sets the level anew.
      logger.addAppender(this);
      logger.setLevel(Level.INFO);
    }

    /** On the query's thread, between two epochs. */
    @Override
    public void append(LogEvent event) {
      if (event.getMessage().getFormattedMessage().contains("has released executor")) {
        epoch = counting.lastEpoch();
      }
    }

    @Override
    public void close() {
      logger.removeAppender(this);
      logger.setLevel(level);
      stop();
    }
  }

  /**
   * Three executors, a reader on one of them and state on one: another is of no use. Where they were in
   * epochs before does not count, as a busy machine may have moved them.
   */
  @Test
  void anExecutorThatHoldsNothingGoesFirstAndOnlyOnePipelineDecides() {
    try (Fleet fleet = Fleet.of(SPARK);
        SparkCounting counting = SparkCounting.of(SPARK);
        ReleaseLog releases = new ReleaseLog(counting)) {
      assertThat(
          refusal(IllegalArgumentException.class, "unmarked", idleSource("unmarked").withoutMarkCoder()),
          containsString("[Numbers], which have no checkpoint mark coder"));
      SparkStructuredStreamingPipelineResult result = startReleasing("first", idleSource("first"));
      try {
        assertThat(
            refusal(IllegalStateException.class, "second", idleSource("second")),
            containsString("another pipeline of this Spark application, first, has it too"));
        await("a release", result, fleet, () -> !fleet.removed().isEmpty());
        long epoch = counting.lastEpoch();
        await("two more epochs", result, fleet, () -> counting.lastEpoch() > epoch + 2);
      } finally {
        result.cancel();
      }
      assertThat(fleet.removed().size(), is(1));
      String released = fleet.removed().get(0);
      assertThat("the epoch before the release", releases.epoch, is(greaterThanOrEqualTo(0L)));
      assertThat("reader", counting.executorsOf(releases.epoch, 0), not(hasItem(released)));
      assertThat("state", counting.executorsOf(releases.epoch, 1), not(hasItem(released)));
      assertThat("tasks that failed", fleet.failedTasks(), empty());
    }
  }

  private static ScriptedSource idleSource(String name) {
    return Script.source(name, Script.split().at(1, "a").epoch().at(2, "b").idle());
  }

  private String refusal(Class<? extends Exception> type, String name, ScriptedSource source) {
    return assertThrows(type, () -> startReleasing(name, source)).getMessage();
  }

  /** Starts a pipeline that releases an executor at any load, as long as there are more than two. */
  private SparkStructuredStreamingPipelineResult startReleasing(String name, ScriptedSource source) {
    Pipeline pipeline =
        Pipeline.create(
            SPARK.options(
                "--jobName=" + name,
                "--checkpointDir=" + directory.resolve(name),
                "--parallelism=1",
                "--sourceSplits=1",
                "--triggerIntervalMillis=500",
                "--dynamicAllocation=true",
                "--dynamicAllocationScalingIntervalMillis=1000",
                "--dynamicAllocationScalingUpRatio=2000",
                "--dynamicAllocationScalingDownRatio=1000",
                "--dynamicAllocationMinExecutors=2"));
    pipeline
        .apply("Numbers", Read.from(source))
        .apply(Window.into(FixedWindows.of(Duration.standardMinutes(1))))
        .apply(Count.perElement());
    return (SparkStructuredStreamingPipelineResult) pipeline.run();
  }

  private static void await(
      String what,
      SparkStructuredStreamingPipelineResult result,
      Fleet fleet,
      BooleanSupplier condition) {
    Await.until(
        what,
        () -> condition.getAsBoolean() || result.getState().isTerminal(),
        () -> result.getState() + " with executors " + fleet.sizes() + ": " + result.progressJson());
    assertThat(what + ", " + result.getState(), condition.getAsBoolean(), is(true));
  }

  private static Object gauge(String name) {
    Source source = SparkEnv.get().metricsSystem().getSourcesByName("beam.scaled.pipeline").head();
    return source.metricRegistry().getGauges().get(name).getValue();
  }

  /** Whether some epoch had tasks of both levels on all executors. */
  private static boolean isSpread(SparkCounting counting) {
    long epoch = counting.lastEpoch() - 1;
    return counting.executorsOf(epoch, 0).size() == MOST
        && counting.executorsOf(epoch, 1).size() == MOST;
  }

  private static List<OpenedReader> openReaders(Steering steering) {
    return steering.readers().stream().filter(reader -> !reader.closed()).toList();
  }

  private static void assertReadersOfEndedProcessesAreFinalized(Steering steering) {
    Await.until(
        "the end of a process with readers",
        () -> steering.readers().stream().anyMatch(ScalingByLoadTest::isProcessEnded),
        steering::readers);
    List<OpenedReader> ended =
        steering.readers().stream().filter(ScalingByLoadTest::isProcessEnded).toList();
    assertThat(ended, not(empty()));
    assertThat(
        "not finalized and closed",
        ended.stream().filter(reader -> !reader.finalized()).toList(),
        empty());
  }

  private static boolean isProcessEnded(OpenedReader reader) {
    return ProcessHandle.of(reader.process()).filter(ProcessHandle::isAlive).isEmpty();
  }
}
