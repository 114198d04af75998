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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceTrace;
import org.apache.beam.runners.spark.structuredstreaming.testing.OneTimeFaults;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.values.KV;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nothing is lost, nothing counts twice: cancelled, failed and restarted anywhere, without task retries. */
class RecoveryTest extends RestartTable {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @Override
  TestSpark spark() {
    return SPARK;
  }

  private RestartHarness harness(RecoveryPipeline pipeline, int recordsPerEpoch, String... options) {
    List<String> all =
        Stream.concat(
                Stream.of("--maxRecordsPerMicroBatch=" + recordsPerEpoch),
                Stream.of(options))
            .toList();
    return new RestartHarness(
        SPARK, directory.resolve("checkpoint"), pipeline::build, all.toArray(String[]::new));
  }

  /** Every third record of split 0, and every second group. */
  private RecoveryPipeline faulty(String source) {
    List<String> records = RecoveryPipeline.records();
    List<String> groups = RecoveryPipeline.groups();
    return new RecoveryPipeline(
        source, directory, everyNth(records.subList(0, 20), 4), everyNth(groups, 3));
  }

  private static Set<String> everyNth(List<String> all, int n) {
    return IntStream.range(0, all.size())
        .filter(i -> i % n == n - 1)
        .mapToObj(all::get)
        .collect(Collectors.toSet());
  }

  @Test
  void aPipelineCancelledAtEveryEpochBoundaryGoesOnExactly() {
    RecoveryPipeline pipeline = new RecoveryPipeline("boundaries", directory, Set.of(), Set.of());
    RestartHarness harness = harness(pipeline, 7);
    int runs = harness.runEpochByEpoch();
    assertThat(runs, greaterThan(3));
    pipeline.assertExact();
    SourceTrace trace = SourceTrace.of("boundaries");
    assertThat(trace.splitCalls.get(), is(1));
    assertThat(trace.violations, empty());
    // A restarted reader is one with a mark.
    assertThat(trace.opened.stream().filter(opened -> opened.step() == null).toList(), hasSize(2));
  }

  @Test
  void aPipelineThatFailsInEveryOtherEpochAndIsRestartedInProcessIsExact() {
    RecoveryPipeline pipeline = faulty("in-process");
    harness(pipeline, 6, "--maxRestarts=20").runToTheEnd();
    assertThat(pipeline.faults().happened(RecoveryPipeline.BEFORE), is(5));
    assertThat(pipeline.faults().happened(RecoveryPipeline.BEHIND), is(3));
    pipeline.assertExact();
    assertThat(SourceTrace.of("in-process").violations, empty());
  }

  @Test
  void aPipelineThatFailsForGoodAndIsStartedAnewIsExact() {
    RecoveryPipeline pipeline =
        new RecoveryPipeline(
            "new-process",
            directory,
            Set.of("r0-9"),
            Set.of(RecoveryPipeline.groups().get(0)));
    RestartHarness harness = harness(pipeline, 10, "--maxRestarts=0");
    for (int failures = 0; failures < 2; failures++) {
      assertThat(harness.runToFailure().getMessage(), containsString("the fault of"));
    }
    harness.runToTheEnd();
    pipeline.assertExact();
  }

  /** apache/spark#29700: the epoch that fails moves the watermark and has no records. */
  @Test
  void anEpochWithoutRecordsThatFailsIsRunAgain() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    RestartHarness harness =
        new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            p ->
                p.apply(
                        Script.read(
                            "no-data", Script.split().at(1, "k").at(2, "k").epochs(2).end()))
                    .apply(PanePath.BY_TIMERS.fixedWindows(10, 0, false))
                    .apply(Count.perElement())
                    .apply(faults.on("fault", Set.of("k=2")))
                    .apply(recorder.as("counts")),
            "--maxRestarts=0");
    assertThat(harness.runToFailure().getMessage(), containsString("the fault of k=2"));
    assertThat(recorder.seen("counts"), empty());
    harness.runToTheEnd();
    assertThat(recorder.values("counts"), is(List.of("k=2")));
  }

  /** Outputs {@code fired} when the watermark passes five seconds. */
  static final class TimerFn extends DoFn<KV<String, String>, String> {
    @TimerId("timer")
    private final TimerSpec timerSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @ProcessElement
    public void process(@TimerId("timer") Timer timer) {
      timer.set(Instant.ofEpochSecond(5));
    }

    @OnTimer("timer")
    public void onTimer(OutputReceiver<String> out) {
      out.output("fired");
    }
  }

  /** apache/spark#29700: the callback of a timer fails, and nothing new comes behind the restart. */
  @Test
  void aTimerThatFailsInAnEpochWithoutRecordsFiresOnceMore() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    RestartHarness harness =
        new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            p ->
                p.apply(Script.read("no-data-timer", Script.split().at(1, "a").epochs(2).end()))
                    .apply(WithKeys.of("k"))
                    .apply(ParDo.of(new TimerFn()))
                    .apply(faults.on("fault", Set.of("fired")))
                    .apply(recorder.as("fired")),
            "--maxRestarts=0");
    assertThat(harness.runToFailure().getMessage(), containsString("the fault of fired"));
    assertThat(recorder.all("fired"), empty());
    harness.runToTheEnd();
    assertThat(recorder.all("fired"), hasSize(1));
    assertThat(recorder.all("fired").get(0).epoch(), is(2L));
  }

  /** apache/beam#30539: marks are finalized at all, live, in order, each once, and never too early. */
  @Test
  void everyMarkIsFinalizedOnceInOrderAndNotBeforeItsEpochIsCommitted() {
    SourceTrace trace = SourceTrace.of("finalized");
    Path commits = directory.resolve("checkpoint").resolve("commits");
    List<Long> early = new CopyOnWriteArrayList<>();
    trace.onAcknowledged =
        acknowledged -> {
          if (!commits.resolve(Long.toString(acknowledged.epoch())).toFile().exists()) {
            early.add(acknowledged.epoch());
          }
        };
    Script script = Script.split();
    for (int epoch = 0; epoch < 5; epoch++) {
      script.burst(epoch, "e" + epoch + "-", 10).watermark(epoch).epoch();
    }
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    RestartHarness harness =
        new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            p -> p.apply(Script.read("finalized", script.idle())).apply(recorder.as("read")));
    harness.runUntil(
        "the fifth acknowledgement",
        result -> {
          long committed = result.progress().epoch() - 1;
          long acknowledged =
              trace.acknowledged.stream().mapToLong(SourceTrace.Acknowledged::epoch).max().orElse(-1);
          assertThat(acknowledged, greaterThan(committed - 2));
          return trace.acknowledged.size() >= 5;
        });
    assertThat(early, empty());
    List<Long> epochs = trace.acknowledged.stream().map(SourceTrace.Acknowledged::epoch).toList();
    assertThat(epochs, is(IntStream.range(0, epochs.size()).mapToObj(i -> (long) i).toList()));
    assertThat(
        trace.acknowledged.stream().limit(5).map(SourceTrace.Acknowledged::records).toList(),
        is(List.of(10L, 20L, 30L, 40L, 50L)));
    assertThat(trace.violations, empty());
  }
}
