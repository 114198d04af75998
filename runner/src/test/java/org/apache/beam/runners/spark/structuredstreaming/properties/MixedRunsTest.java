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
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.nullValue;

import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.metrics.Counter;
import org.apache.beam.sdk.metrics.MetricNameFilter;
import org.apache.beam.sdk.metrics.MetricResult;
import org.apache.beam.sdk.metrics.Metrics;
import org.apache.beam.sdk.metrics.MetricsFilter;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An executor is lost when level 1 has read what level 0 has written, and level 2 is still to read of
 * it. Spark runs level 0 again and keeps what level 1 has made of its first run.
 */
@Timeout(180)
class MixedRunsTest {
  @RegisterExtension static final TestSpark SPARK = LocalCluster.of(2);

  private static final String GO = "go";

  @TempDir Path directory;

  /** Passes a name on that the bundle has drawn, and no other bundle will. */
  private static final class DrawnFn extends DoFn<Long, KV<String, String>> {
    private transient String drawn;

    @StartBundle
    public void startBundle() {
      drawn = UUID.randomUUID().toString();
    }

    @ProcessElement
    public void processElement(OutputReceiver<KV<String, String>> output) {
      output.output(KV.of("key", drawn));
    }
  }

  /** The names of a group as one text, behind a place to wait at. */
  private static final class NamesFn extends DoFn<KV<String, Iterable<String>>, String> {
    @ProcessElement
    public void processElement(
        @Element KV<String, Iterable<String>> group, OutputReceiver<String> output) {
      output.output(GO);
      Set<String> names = new TreeSet<>();
      group.getValue().forEach(names::add);
      output.output(names.toString());
    }
  }

  private static final class WithKeyFn extends DoFn<String, KV<String, String>> {
    @ProcessElement
    public void processElement(
        @Element String names, OutputReceiver<KV<String, String>> output) {
      if (!names.equals(GO)) {
        output.output(KV.of("key", names));
      }
    }
  }

  /** Compares the names that came over level 1 with those that came straight from level 0. */
  private static final class CompareFn extends DoFn<Iterable<String>, Void> {
    private final Counter same = Metrics.counter(MixedRunsTest.class, "same");
    private final Counter mixed = Metrics.counter(MixedRunsTest.class, "mixed");

    @ProcessElement
    public void processElement(@Element Iterable<String> both) {
      Set<String> direct = new TreeSet<>();
      String overLevelOne = null;
      for (String names : both) {
        if (names.startsWith("[")) {
          overLevelOne = names;
        } else {
          direct.add(names);
        }
      }
      (direct.toString().equals(overLevelOne) ? same : mixed).inc();
    }
  }

  /** The executors that the driver knows to be lost. */
  private static final class Losses extends SparkListener {
    private final Set<String> executors = ConcurrentHashMap.newKeySet();

    @Override
    public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
      executors.add(removed.executorId());
    }
  }

  private static MetricResult<Long> counter(PipelineResult result, String name) {
    return result
        .metrics()
        .queryMetrics(
            MetricsFilter.builder()
                .addNameFilter(MetricNameFilter.named(MixedRunsTest.class, name))
                .build())
        .getCounters()
        .iterator()
        .next();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsMixedOfTwoRunsOfALevelDoesNotCount(boolean streaming) {
    WaitPoints points = new WaitPoints(directory.resolve("points"));
    Losses losses = new Losses();
    SPARK.session().sparkContext().addSparkListener(losses);
    Pipeline pipeline =
        Pipeline.create(
            SPARK.options(
                "--streaming=" + streaming,
                "--jobName=mixed-" + streaming,
                "--checkpointDir=" + directory.resolve("checkpoint"),
                "--parallelism=1",
                "--sourceSplits=2"));
    PCollection<KV<String, String>> drawn =
        pipeline
            .apply("numbers", GenerateSequence.from(0).to(100))
            .apply("drawn", ParDo.of(new DrawnFn()));
    PCollection<KV<String, String>> overLevelOne =
        drawn
            .apply("first", GroupByKey.create())
            .apply("names", ParDo.of(new NamesFn()))
            .apply(points.on("wait", Set.of(GO)))
            .apply("with key", ParDo.of(new WithKeyFn()));
    PCollectionList.of(drawn)
        .and(overLevelOne)
        .apply(Flatten.pCollections())
        .apply("second", GroupByKey.create())
        .apply(Values.create())
        .apply("compare", ParDo.of(new CompareFn()));
    // Both read level 0: each has one core.
    LocalCluster.awaitExecutors(SPARK, 2);
    PipelineResult result = pipeline.run();
    Await.until("level 1 to have read", () -> points.isReached(GO), result::getState);
    LocalCluster.executors().stream()
        .filter(executor -> executor.pid() != points.processOf(GO))
        .forEach(ProcessHandle::destroyForcibly);
    Await.until("the loss of an executor", () -> !losses.executors.isEmpty(), result::getState);
    points.open(GO);
    assertThat(result.waitUntilFinish(), is(State.DONE));
    SPARK.session().sparkContext().removeSparkListener(losses);
    // It did happen.
    assertThat(counter(result, "mixed").getAttempted(), greaterThan(0L));
    assertThat(counter(result, "mixed").getCommittedOrNull(), nullValue());
    assertThat(counter(result, "same").getCommitted(), is(1L));
  }
}
