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
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.operations.StuckCode.Kind;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A pipeline whose user code does not return is cancelled all the same, and can be started again while
 * that code is still there. When the code returns at last, what it did is of no account.
 */
class StuckCodeTest {
  @TempDir Path directory;

  /** Which step is stuck, that of a source's level or one with state, and in which call. */
  enum Place {
    SOURCE,
    SOURCE_BUNDLE,
    KEYED,
    KEYED_BUNDLE
  }

  /** Gets stuck if a test's place is one of its two. */
  abstract static class StuckFn<T> extends DoFn<T, Long> {
    private final Kind kind;
    private final boolean inElement;
    private final boolean inBundle;
    private transient boolean stuck;

    StuckFn(Kind kind, boolean inElement, boolean inBundle) {
      this.kind = kind;
      this.inElement = inElement;
      this.inBundle = inBundle;
    }

    void processing() throws InterruptedException {
      if (inElement) {
        pass();
      }
    }

    private void pass() throws InterruptedException {
      if (StuckCode.isFirst()) {
        stuck = true;
        StuckCode.getStuck(kind);
      }
    }

    @FinishBundle
    public void finishBundle() throws InterruptedException {
      if (inBundle) {
        pass();
      }
    }

    @Teardown
    public void tearDown() {
      if (stuck) {
        StuckCode.left();
      }
    }
  }

  private static final class NumberFn extends StuckFn<Long> {
    NumberFn(Kind kind, Place place) {
      super(kind, place == Place.SOURCE, place == Place.SOURCE_BUNDLE);
    }

    @ProcessElement
    public void process(@Element Long number, OutputReceiver<Long> out) throws InterruptedException {
      processing();
      out.output(number);
    }
  }

  /** Gives the sum of the numbers until now. */
  private static final class SumFn extends StuckFn<KV<String, Long>> {
    @StateId("sum")
    private final StateSpec<ValueState<Long>> sumSpec = StateSpecs.value(VarLongCoder.of());

    SumFn(Kind kind, Place place) {
      super(kind, place == Place.KEYED, place == Place.KEYED_BUNDLE);
    }

    @ProcessElement
    public void process(
        @Element KV<String, Long> number,
        @StateId("sum") ValueState<Long> sum,
        OutputReceiver<Long> out)
        throws InterruptedException {
      processing();
      Long before = sum.read();
      long now = (before == null ? 0 : before) + number.getValue();
      sum.write(now);
      out.output(now);
    }
  }

  static Stream<Arguments> cases() {
    return Stream.of(Kind.values())
        .flatMap(kind -> Stream.of(Place.values()).map(place -> Arguments.of(kind, place)));
  }

  @BeforeEach
  void arm() {
    StuckCode.arm();
  }

  @AfterEach
  void open() {
    StuckCode.open();
  }

  private static void build(PCollection<Long> numbers, Kind kind, Place place, Collected<Long> sums) {
    numbers
        .apply("Source", ParDo.of(new NumberFn(kind, place)))
        .apply(WithKeys.of("k"))
        .apply("Sum", ParDo.of(new SumFn(kind, place)))
        .apply("Collect", ParDo.of(sums));
  }

  private SparkStructuredStreamingPipelineResult startStream(
      Feed feed, Kind kind, Place place, Collected<Long> sums) {
    Pipeline pipeline =
        Pipeline.create(
            Runs.options(
                "--jobName=stuck-" + kind + "-" + place,
                "--checkpointDir=" + directory.resolve("checkpoint"),
                "--cancelTimeoutMillis=500",
                // One epoch for each run.
                "--triggerIntervalMillis=3600000",
                "--readerIdleTimeoutMillis=7200000"));
    build(pipeline.apply("Numbers", Read.from(feed.source())), kind, place, sums);
    return Runs.start(pipeline);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aStreamIsCancelledAndGoesOnFromItsCheckpoint(Kind kind, Place place) throws Exception {
    Feed feed = Feed.of(1);
    StuckCode.cancel(startStream(feed, kind, place, new Collected<>()));
    feed.add(2);
    Collected<Long> again = new Collected<>();
    SparkStructuredStreamingPipelineResult second = startStream(feed, kind, place, again);
    Runs.await("the epoch to be run again", () -> second.progress().epoch() == 0);
    StuckCode.letGo();
    second.cancel();
    assertThat(again.list(), is(List.<Object>of(1L, 3L)));
    feed.add(4).end();
    Collected<Long> goingOn = new Collected<>();
    assertThat(startStream(feed, kind, place, goingOn).waitUntilFinish(), is(State.DONE));
    assertThat(goingOn.list(), is(List.<Object>of(7L)));
    assertThat(feed.closed(), is(feed.opened()));
  }

  private static SparkStructuredStreamingPipelineResult startBatch(
      Kind kind, Place place, Collected<Long> sums) {
    Pipeline pipeline =
        Pipeline.create(Runs.options("--jobName=stuck-batch-" + kind + "-" + place));
    build(pipeline.apply("Numbers", Create.of(1L, 2L)), kind, place, sums);
    return Runs.start(pipeline);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aBatchIsCancelledAndRunsAgain(Kind kind, Place place) throws Exception {
    StuckCode.cancel(startBatch(kind, place, new Collected<>()));
    Collected<Long> again = new Collected<>();
    SparkStructuredStreamingPipelineResult second = startBatch(kind, place, again);
    assertThat(second.waitUntilFinish(), is(State.DONE));
    assertThat(again.list(), hasSize(2));
    assertThat(Runs.counter(second, "collected").getCommitted(), is(2L));
    StuckCode.letGo();
  }
}
