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
package org.apache.beam.runners.spark.structuredstreaming.restarts;

import static org.apache.beam.runners.spark.structuredstreaming.restarts.RestartedPipeline.read;

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.io.range.OffsetRange;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.GroupIntoBatches;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.WithTimestamps;
import org.apache.beam.sdk.transforms.splittabledofn.ManualWatermarkEstimator;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.splittabledofn.WatermarkEstimators;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** DoFns that ask for more of their runner, and sources that do. */
final class DoFnPipelines {
  private DoFnPipelines() {}

  static List<RestartedPipeline> all() {
    return List.of(
        sortedInput(),
        RestartedPipeline.of(
            "stable input",
            DoFnPipelines::stableInput,
            "k=[a #1: 1, a #2: 2, b #1: 1] @9.999 [0, 10) ON_TIME 0/0 last",
            "k=[a #1: 3] @19.999 [10, 20) ON_TIME 0/0 last"),
        RestartedPipeline.of(
            "records that come twice",
            p -> p.apply(repeating()),
            "a @1", "b @2", "c @3", "d @4", "e @5"),
        batches(),
        RestartedPipeline.of(
            "a splittable DoFn that rests between positions",
            DoFnPipelines::positions,
            "0=2 @1.999 [0, 2) ON_TIME 0/0 last", "0=2 @3.999 [2, 4) ON_TIME 0/0 last",
            "10=2 @11.999 [10, 12) ON_TIME 0/0 last", "10=2 @13.999 [12, 14) ON_TIME 0/0 last"),
        RestartedPipeline.of(
            "a splittable DoFn that is asked again",
            p -> p.apply(Create.of("x", "y")).apply(ParDo.of(new PollFn())),
            "x 4 @beginning", "y 4 @beginning"),
        boundedSource());
  }

  private static RestartedPipeline sortedInput() {
    return RestartedPipeline.of(
        "input sorted by time",
        p ->
            p.apply(
                    read(
                        "time-sorted",
                        Script.split()
                            .at(7, "a:7").at(3, "a:3").at(4, "b:4").watermark(1).epoch()
                            .at(5, "a:5").watermark(4.5).epoch()
                            .at(6, "a:6").watermark(6.5).epoch()
                            .at(8, "a:8").at(2, "a:late").watermark(7.5).epoch()
                            .end()))
                .apply(ParDo.of(new SortedFn())),
        "a: null, 3 @3", "b: null, 4 @4", "a: 3, 5 @5", "a: 5, 6 @6", "a: 6, 7 @7",
        "a: 7, 8 @8");
  }

  private static RestartedPipeline batches() {
    return RestartedPipeline.of(
        "batches that are full, have waited or expire",
        p ->
            p.apply(
                    read(
                        Events.stream()
                            .at(1, "a:1").at(2, "a:2").then().at(3, "b:1").then().at(4, "a:3").then()
                            .at(5, "a:4").pass(3).pass(3)
                            .at(6, "a:5").watermark(7)))
                .apply(Window.into(FixedWindows.of(Duration.standardSeconds(100))))
                .apply(
                    GroupIntoBatches.<String, String>ofSize(3)
                        .withMaxBufferingDuration(Duration.standardSeconds(5))),
        "a=[1, 2, 3] @1 [0, 100)", "b=[1] @3 [0, 100)", "a=[4] @5 [0, 100)",
        "a=[5] @6 [0, 100)");
  }

  private static RestartedPipeline boundedSource() {
    return RestartedPipeline.of(
            "a bounded source, a few elements an epoch",
            p ->
                p.apply(GenerateSequence.from(0).to(10))
                    .apply(WithTimestamps.of(n -> Instant.ofEpochSecond(n)))
                    .apply(Window.into(FixedWindows.of(Duration.standardSeconds(5))))
                    .apply(WithKeys.of("k"))
                    .apply(GroupByKey.create()),
            "k=[0, 1, 2, 3, 4] @4.999 [0, 5) ON_TIME 0/0 last",
            "k=[5, 6, 7, 8, 9] @9.999 [5, 10) ON_TIME 0/0 last")
        .with("--maxRecordsPerMicroBatch=2", "--sourceSplits=2");
  }

  private static Read.Unbounded<String> repeating() {
    Script first = Script.split().at(1, "a").at(2, "b").at(1, "a").epoch();
    first.at(2, "b").at(3, "c").watermark(3).epoch().at(1, "a").at(5, "e").epoch();
    Script second = Script.split().at(1, "a").epoch().at(4, "d").at(3, "c").epoch();
    second.at(5, "e").at(4, "d").epoch();
    return Read.from(Script.source("repeating", first.end(), second.end()).withRecordIds());
  }

  private static PCollection<?> stableInput(Pipeline pipeline) {
    return pipeline
        .apply(
            read(
                Events.stream()
                    .at(1, "a:1").at(2, "a:2").then().at(3, "b:1")
                    .watermark(12)
                    .at(13, "a:3")))
        .apply(Window.into(FixedWindows.of(Duration.standardSeconds(10))))
        .apply(ParDo.of(new StableFn()))
        .apply(WithKeys.of("k"))
        .apply(GroupByKey.create());
  }

  private static PCollection<?> positions(Pipeline pipeline) {
    return pipeline
        .apply(
            read(
                Events.stream()
                    .at(0, "0:4")
                    .watermark(9)
                    .pass(2).pass(2)
                    .at(10, "10:4")
                    .pass(2).pass(2).pass(2)
                    .watermark(20)
                    .pass(2).pass(2)))
        .apply(ParDo.of(new PositionsFn()))
        .apply(Window.into(FixedWindows.of(Duration.standardSeconds(2))))
        .apply(Count.perElement());
  }

  /** Tells each element with the one before it. */
  static final class SortedFn extends DoFn<KV<String, String>, String> {
    @StateId("before")
    private final StateSpec<ValueState<String>> beforeSpec = StateSpecs.value(StringUtf8Coder.of());

    @RequiresTimeSortedInput
    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("before") ValueState<String> before,
        OutputReceiver<String> out) {
      out.output(element.getKey() + ": " + before.read() + ", " + element.getValue());
      before.write(element.getValue());
    }
  }

  /** Numbers the elements of a key and window. */
  static final class StableFn extends DoFn<KV<String, String>, String> {
    @StateId("count")
    private final StateSpec<ValueState<Integer>> countSpec = StateSpecs.value(VarIntCoder.of());

    @RequiresStableInput
    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("count") ValueState<Integer> count,
        OutputReceiver<String> out) {
      Integer before = count.read();
      count.write(before == null ? 1 : before + 1);
      out.output(element.getKey() + " #" + count.read() + ": " + element.getValue());
    }
  }

  /** Of {@code start:count}: a position for each second from the start on, then a rest of a second. */
  @DoFn.UnboundedPerElement
  static final class PositionsFn extends DoFn<KV<String, String>, String> {
    @GetInitialRestriction
    public OffsetRange range(@Element KV<String, String> element) {
      long start = Long.parseLong(element.getKey());
      return new OffsetRange(start, start + Long.parseLong(element.getValue()));
    }

    @GetInitialWatermarkEstimatorState
    public Instant initialWatermark(@Timestamp Instant timestamp) {
      return timestamp;
    }

    @NewWatermarkEstimator
    public WatermarkEstimators.Manual estimator(@WatermarkEstimatorState Instant watermark) {
      return new WatermarkEstimators.Manual(watermark);
    }

    @ProcessElement
    public ProcessContinuation process(
        @Element KV<String, String> element,
        RestrictionTracker<OffsetRange, Long> tracker,
        ManualWatermarkEstimator<Instant> estimator,
        OutputReceiver<String> out) {
      long position = tracker.currentRestriction().getFrom();
      if (!tracker.tryClaim(position)) {
        return ProcessContinuation.stop();
      }
      out.outputWithTimestamp(element.getKey(), Instant.ofEpochSecond(position));
      estimator.setWatermark(Instant.ofEpochSecond(position));
      return ProcessContinuation.resume().withResumeDelay(Duration.standardSeconds(1));
    }
  }

  /** Claims a position in each call, gives its element with the last and wants no rest before any. */
  @DoFn.UnboundedPerElement
  static final class PollFn extends DoFn<String, String> {
    @GetInitialRestriction
    public OffsetRange range() {
      return new OffsetRange(0, 5);
    }

    @ProcessElement
    public ProcessContinuation process(
        @Element String element,
        RestrictionTracker<OffsetRange, Long> tracker,
        OutputReceiver<String> out) {
      long position = tracker.currentRestriction().getFrom();
      if (!tracker.tryClaim(position)) {
        return ProcessContinuation.stop();
      }
      if (position == 4) {
        out.output(element + " " + position);
      }
      return ProcessContinuation.resume();
    }
  }
}
