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
import static org.hamcrest.Matchers.lessThan;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.PBegin;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
/** A pipeline that drains takes in nothing more and ends when what it has taken in is processed. */
class DrainTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  /** Lets a run have one epoch: the second one would begin years later. */
  private static final String[] ONE_EPOCH = {
    "--triggerIntervalMillis=2000000000000", "--readerIdleTimeoutMillis=2000000000001"
  };

  @TempDir Path directory;

  private Recorder recorder() {
    return new Recorder(directory.resolve("records"));
  }

  private RestartHarness harness(Consumer<Pipeline> build, String... options) {
    List<String> all = new ArrayList<>(List.of(options));
    all.add("--maxRestarts=0");
    return new RestartHarness(
        SPARK, directory.resolve("checkpoint"), build, all.toArray(String[]::new));
  }

  /** Far more records than a test reads, three in an epoch, in a window that stays open. */
  private static PTransform<PBegin, PCollection<String>> manyRecords(String name) {
    return Script.read(name, Script.split().burst(1, "r", 1_000_000).end());
  }

  private static PCollection<Long> counts(PCollection<String> elements) {
    return elements
        .apply(Window.into(FixedWindows.of(Duration.standardSeconds(10))))
        .apply(Combine.globally(Count.<String>combineFn()).withoutDefaults());
  }

  private Consumer<Pipeline> countsOfRecords(String name) {
    return pipeline ->
        counts(pipeline.apply(manyRecords(name)).apply(recorder().as("read")))
            .apply(recorder().as("counts"));
  }

  private Consumer<Pipeline> positions(DoFn<String, String> positions, String... waiting) {
    WaitPoints points = points();
    return pipeline ->
        counts(
                pipeline
                    .apply(Create.of("x"))
                    .apply(ParDo.of(positions))
                    .apply(points.on("wait", Set.of(waiting)))
                    .apply(recorder().as("positions")))
            .apply(recorder().as("counts"));
  }

  private WaitPoints points() {
    return new WaitPoints(directory.resolve("points"));
  }

  @Test
  void whatASourceHasReadIsCountedOnceEachAndNothingIsReadAnyMore() {
    SparkStructuredStreamingPipelineResult result =
        harness(countsOfRecords("drained-source"), "--maxRecordsPerMicroBatch=3").start();
    recorder().await("read", 4);
    result.drain();
    result.drain();
    RestartHarness.finish(result);
    int read = recorder().all("read").size();
    assertThat(read, lessThan(1_000_000));
    assertThat(recorder().values("counts"), is(List.of(Integer.toString(read))));
    result.drain();
    assertThat(result.getState(), is(State.DONE));
  }

  @Test
  void anIdlePipelineDrainsAtOnce() {
    SparkStructuredStreamingPipelineResult result =
        harness(
                pipeline ->
                    counts(
                            pipeline.apply(
                                Script.read("drained-idle", Script.split().at(1, "a").idle())))
                        .apply(recorder().as("counts")),
                "--maxIdlePauseMillis=3600000")
            .start();
    Await.until(
        "a rest of many epochs' time",
        () -> result.progress().epoch() >= 5,
        () -> result.progress().epoch());
    result.drain();
    RestartHarness.finish(result);
    assertThat(recorder().values("counts"), is(List.of("1")));
  }

  @Test
  void anUnboundedRestIsTruncatedOnceAndProcessedToItsEnd() {
    assertThat(drained(new PositionsFn.Truncated()), is(List.of("x:0", "x:1+", "x:2+", "x:3+")));
    assertThat(recorder().values("counts"), is(List.of("4")));
  }

  @Test
  void anUnboundedRestIsDroppedUnlessTheDoFnTruncatesIt() {
    assertThat(drained(new PositionsFn.Endless()), is(List.of("x:0")));
    assertThat(recorder().values("counts"), is(List.of("1")));
  }

  @Test
  void aBoundedRestIsProcessedAsAWhole() {
    assertThat(drained(new PositionsFn.Bounded()), is(List.of("x:0", "x:1+", "x:2+", "x:3+")));
    assertThat(recorder().values("counts"), is(List.of("4")));
  }

  /** The positions of a pipeline that drains once it has given position 0. */
  private List<String> drained(DoFn<String, String> positions) {
    SparkStructuredStreamingPipelineResult result = harness(positions(positions)).start();
    recorder().await("positions", 1);
    result.drain();
    RestartHarness.finish(result);
    return recorder().values("positions");
  }

  /** The group closes because of the drain, so it comes to the DoFn when the drain has begun. */
  @Test
  void whatComesWhileThePipelineDrainsIsTruncatedToo() {
    SparkStructuredStreamingPipelineResult result =
        harness(
                pipeline ->
                    counts(
                            pipeline.apply(
                                Script.read(
                                    "drained-late", Script.split().at(1, "a").at(2, "b").idle())))
                        .apply(
                            MapElements.into(
                                    TypeDescriptors.strings())
                                .via(count -> "count " + count))
                        .apply(ParDo.of(new PositionsFn.Truncated()))
                        .apply(recorder().as("positions")))
            .start();
    Await.until(
        "the two are read",
        () -> result.progress().epoch() >= 1,
        () -> result.progress().epoch());
    result.drain();
    RestartHarness.finish(result);
    assertThat(
        recorder().values("positions"), is(List.of("count 2:0+", "count 2:1+", "count 2:2+")));
  }

  @Test
  void aDrainThatIsStoppedInTheMiddleOfAnEpochGoesOn() throws TimeoutException {
    RestartHarness harness = harness(positions(new PositionsFn.Truncated(), "x:2+"));
    SparkStructuredStreamingPipelineResult result = harness.start();
    recorder().await("positions", 1);
    result.drain();
    Await.until(
        "position 2 waits", () -> points().isReached("x:2+"), () -> recorder().values("positions"));
    result.query().stop();
    assertThat(result.waitUntilFinish(), is(State.CANCELLED));
    assertThat(recorder().values("positions"), is(List.of("x:0", "x:1+")));
    harness.runToTheEnd();
    assertThat(recorder().values("positions"), is(List.of("x:0", "x:1+", "x:2+", "x:3+")));
    assertThat(recorder().values("counts"), is(List.of("4")));
  }

  @Test
  void aPipelineThatIsStartedAgainDrainsWhereItIsAskedToAndGoesOnInEveryRun() {
    Consumer<Pipeline> build = positions(new PositionsFn.Truncated());
    State state =
        harness(build).runUntil("position 0", run -> recorder().all("positions").size() == 1);
    assertThat(state, is(State.CANCELLED));
    String option = "--drain=true";
    int runs = 0;
    while (state != State.DONE) {
      RestartHarness one = harness(build, ONE_EPOCH[0], ONE_EPOCH[1], option);
      state = one.runUntil("an epoch", run -> run.progress().epoch() >= 0);
      option = "--drain=false";
      runs++;
      assertThat("runs without an end", runs, lessThan(50));
    }
    assertThat(runs, greaterThan(2));
    assertThat(recorder().values("positions"), is(List.of("x:0", "x:1+", "x:2+", "x:3+")));
    assertThat(recorder().values("counts"), is(List.of("4")));
  }

  /** Of three records an epoch the third one has the seventh, and is logged when the query stops. */
  @Test
  void anEpochThatWasLoggedBeforeIsRunAgainWithoutDraining() throws TimeoutException {
    WaitPoints points = points();
    Consumer<Pipeline> build =
        pipeline ->
            counts(
                    pipeline
                        .apply(manyRecords("drained-logged"))
                        .apply(points.on("wait", Set.of("r7")))
                        .apply(recorder().as("read")))
                .apply(recorder().as("counts"));
    SparkStructuredStreamingPipelineResult result =
        harness(build, "--maxRecordsPerMicroBatch=3").start();
    Await.until("r7 waits", () -> points.isReached("r7"), result::getState);
    result.query().stop();
    assertThat(result.waitUntilFinish(), is(State.CANCELLED));
    harness(build, "--maxRecordsPerMicroBatch=3", "--drain=true").runToTheEnd();
    assertThat(recorder().values("counts"), is(List.of("9")));
  }
}
