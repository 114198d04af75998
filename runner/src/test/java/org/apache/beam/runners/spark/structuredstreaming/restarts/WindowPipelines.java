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
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.join.CoGbkResult;
import org.apache.beam.sdk.transforms.join.CoGroupByKey;
import org.apache.beam.sdk.transforms.join.KeyedPCollectionTuple;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.AfterProcessingTime;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;

/** Groupings and combinings, in windows that merge, overlap, fire early and late. */
final class WindowPipelines {
  private static final TupleTag<String> LEFT = new TupleTag<>() {};
  private static final TupleTag<String> RIGHT = new TupleTag<>() {};

  private WindowPipelines() {}

  static List<RestartedPipeline> all() {
    return List.of(
        sessions("accumulating sessions that fire early and late", true,
            "a=[1] @4.999 [0, 5) EARLY 0/-1", "b=[1] @5.999 [1, 6) EARLY 0/-1",
            "a=[2] @12.999 [8, 13) EARLY 0/-1", "a=[1, 2, 3] @12.999 [0, 13) EARLY 0/-1",
            "b=[1] @5.999 [1, 6) ON_TIME 1/0", "a=[1, 2, 3] @12.999 [0, 13) ON_TIME 1/0",
            "a=[1, 2, 3, 4] @12.999 [0, 13) LATE 2/1"),
        sessions("discarding sessions that fire early and late", false,
            "a=[1] @4.999 [0, 5) EARLY 0/-1", "b=[1] @5.999 [1, 6) EARLY 0/-1",
            "a=[2] @12.999 [8, 13) EARLY 0/-1", "a=[3] @12.999 [0, 13) EARLY 0/-1",
            "b=[] @5.999 [1, 6) ON_TIME 1/0", "a=[] @12.999 [0, 13) ON_TIME 1/0",
            "a=[4] @12.999 [0, 13) LATE 2/1"),
        latePanes(),
        earlyAndLatePanes(),
        slidingSums(),
        RestartedPipeline.of(
            "panes at the time of their earliest element",
            WindowPipelines::earliest,
            "k=[a [1, 2], b [1]] @2 [0, 4) ON_TIME 0/0 last"),
        globalSum(),
        RestartedPipeline.of(
            "triggers by processing time, and by synchronized processing time behind them",
            WindowPipelines::byProcessingTime,
            "k=[a [1, 2], b [1]] @end EARLY 0/-1", "k=[a [3]] @end EARLY 1/-1",
            "k=[a [], b [2]] @end ON_TIME 2/0 last"),
        RestartedPipeline.of(
            "several stages behind a TestStream",
            WindowPipelines::stages,
            "a=3 @19.999 [0, 20) EARLY 0/-1", "b=1 @19.999 [0, 20) EARLY 0/-1",
            "a=4 @19.999 [0, 20) EARLY 1/-1", "b=2 @19.999 [0, 20) EARLY 1/-1",
            "a=4 @19.999 [0, 20) ON_TIME 2/0 last", "b=2 @19.999 [0, 20) ON_TIME 2/0 last"),
        RestartedPipeline.of(
            "two sources that are joined",
            WindowPipelines::joined,
            "a [1, 2, 3, 4] [x] @9.999 [0, 10) ON_TIME 0/0 last",
            "b [1] [y] @9.999 [0, 10) ON_TIME 0/0 last",
            "a [] [z] @19.999 [10, 20) ON_TIME 0/0 last"));
  }

  private static RestartedPipeline latePanes() {
    return RestartedPipeline.of(
        "fixed windows by the default trigger, and late panes",
        p ->
            p.apply(read("late-panes", onTimeAndLate()))
                .apply(
                    fixed(10)
                        .withAllowedLateness(Duration.standardSeconds(20))
                        .discardingFiredPanes())
                .apply(GroupByKey.create()),
        "a=[1, 2] @9.999 [0, 10) ON_TIME 0/0", "b=[1] @9.999 [0, 10) ON_TIME 0/0",
        "a=[3] @9.999 [0, 10) LATE 1/1", "a=[4] @9.999 [0, 10) LATE 2/2");
  }

  private static RestartedPipeline earlyAndLatePanes() {
    return RestartedPipeline.of(
        "accumulating fixed windows that fire early and late",
        p ->
            p.apply(read("early-and-late", onTimeAndLate()))
                .apply(earlyAndLate(fixed(10), 2).accumulatingFiredPanes())
                .apply(GroupByKey.create()),
        "a=[1, 2] @9.999 [0, 10) EARLY 0/-1", "a=[1, 2] @9.999 [0, 10) ON_TIME 1/0",
        "b=[1] @9.999 [0, 10) ON_TIME 0/0", "a=[1, 2, 3] @9.999 [0, 10) LATE 2/1",
        "a=[1, 2, 3, 4] @9.999 [0, 10) LATE 3/2");
  }

  private static RestartedPipeline slidingSums() {
    return RestartedPipeline.of(
        "sums in sliding windows",
        p ->
            p.apply(read("sliding-sums", onTimeAndLate()))
                .apply(
                    Window.into(
                        SlidingWindows.of(Duration.standardSeconds(10))
                            .every(Duration.standardSeconds(5))))
                .apply(numbers())
                .apply(Sum.integersPerKey()),
        "a=3 @4.999 [-5, 5) ON_TIME 0/0 last", "b=1 @4.999 [-5, 5) ON_TIME 0/0 last",
        "a=3 @9.999 [0, 10) ON_TIME 0/0 last", "b=1 @9.999 [0, 10) ON_TIME 0/0 last",
        "a=4 @14.999 [5, 15) ON_TIME 0/0 last");
  }

  private static RestartedPipeline globalSum() {
    return RestartedPipeline.of(
        "a global sum with a default",
        p ->
            p.apply(read("global-sum", onTimeAndLate()))
                .apply(numbers())
                .apply(Values.create())
                .apply(
                    Window.<Integer>into(new GlobalWindows())
                        .triggering(Repeatedly.forever(AfterPane.elementCountAtLeast(2)))
                        .withAllowedLateness(Duration.ZERO)
                        .accumulatingFiredPanes())
                .apply(Sum.integersGlobally()),
        "2 @end EARLY 0/-1", "7 @end EARLY 1/-1", "16 @end EARLY 2/-1", "16 @end ON_TIME 3/0 last");
  }

  private static Window<KV<String, String>> fixed(long seconds) {
    return windows(FixedWindows.of(Duration.standardSeconds(seconds)));
  }

  private static Window<KV<String, String>> windows(WindowFn<Object, ?> windowFn) {
    return Window.into(windowFn);
  }

  private static Window<KV<String, String>> earlyAndLate(
      Window<KV<String, String>> windows, int early) {
    return windows
        .triggering(
            AfterWatermark.pastEndOfWindow()
                .withEarlyFirings(AfterPane.elementCountAtLeast(early))
                .withLateFirings(AfterPane.elementCountAtLeast(1)))
        .withAllowedLateness(Duration.standardSeconds(20));
  }

  private static MapElements<KV<String, String>, KV<String, Integer>> numbers() {
    return MapElements.into(
            TypeDescriptors.kvs(TypeDescriptors.strings(), TypeDescriptors.integers()))
        .via(
            (KV<String, String> pair) ->
                KV.of(pair.getKey(), Integer.parseInt(pair.getValue())));
  }

  /** The last of the elements is behind the expiry of a window of ten seconds and twenty more. */
  private static Script onTimeAndLate() {
    return Script.split()
        .at(1, "a:1").at(2, "b:1").watermark(1).epoch()
        .at(3, "a:2").watermark(3).epoch()
        .watermark(12).epoch()
        .at(4, "a:3").watermark(13).epoch()
        .at(5, "a:4").watermark(31).epoch()
        .at(6, "a:5").epoch()
        .end();
  }

  private static RestartedPipeline sessions(String name, boolean accumulating, String... expected) {
    Window<KV<String, String>> windows =
        earlyAndLate(windows(Sessions.withGapDuration(Duration.standardSeconds(5))), 1);
    return RestartedPipeline.of(
        name,
        p ->
            p.apply(
                    read(
                        "sessions-" + accumulating,
                        Script.split()
                            .at(0, "a:1").at(1, "b:1").watermark(0).epoch()
                            .at(8, "a:2").watermark(1).epoch()
                            .at(4, "a:3").watermark(2).epoch()
                            .watermark(14).epoch()
                            .at(3, "a:4").epoch()
                            .watermark(40).epoch()
                            .end()))
                .apply(
                    accumulating ? windows.accumulatingFiredPanes() : windows.discardingFiredPanes())
                .apply(GroupByKey.create()),
        expected);
  }

  private static MapElements<KV<String, Iterable<String>>, String> joinedValues() {
    return MapElements.into(TypeDescriptors.strings())
        .via(
            (KV<String, Iterable<String>> group) ->
                group.getKey() + " " + Recorder.text(group.getValue()));
  }

  private static PCollection<?> earliest(Pipeline pipeline) {
    return pipeline
        .apply(
            read(
                "earliest",
                Script.split()
                    .at(2, "a:1").watermark(1).epoch()
                    .at(3, "b:1").watermark(5).epoch()
                    .at(6, "a:2").watermark(8).epoch()
                    .watermark(12).epoch()
                    .end()))
        .apply(fixed(10).withTimestampCombiner(TimestampCombiner.EARLIEST))
        .apply(GroupByKey.create())
        .apply(joinedValues())
        .apply(
            "second window",
            Window.<String>into(FixedWindows.of(Duration.standardSeconds(4)))
                .triggering(AfterWatermark.pastEndOfWindow())
                .withAllowedLateness(Duration.ZERO)
                .discardingFiredPanes())
        .apply(WithKeys.of("k"))
        .apply("second group", GroupByKey.create());
  }

  private static PCollection<?> byProcessingTime(Pipeline pipeline) {
    return pipeline
        .apply(
            read(
                Events.stream()
                    .at(1, "a:1").at(2, "a:2").at(1, "b:1")
                    .pass(6)
                    .at(3, "a:3")
                    .pass(3)
                    .watermark(5)
                    .pass(3)
                    .at(7, "b:2")
                    .pass(1)))
        .apply(
            Window.<KV<String, String>>into(new GlobalWindows())
                .triggering(
                    Repeatedly.forever(
                        AfterProcessingTime.pastFirstElementInPane()
                            .plusDelayOf(Duration.standardSeconds(5))))
                .withAllowedLateness(Duration.ZERO)
                .discardingFiredPanes())
        .apply(GroupByKey.create())
        .apply(joinedValues())
        .apply(WithKeys.of("k"))
        .apply("continued", GroupByKey.create());
  }

  private static PCollection<?> stages(Pipeline pipeline) {
    return pipeline
        .apply(
            read(
                Events.stream()
                    .at(1, "a:x").at(2, "a:y").at(1, "b:x")
                    .watermark(5)
                    .at(6, "a:z")
                    .watermark(12)
                    .at(13, "a:u").then().at(14, "b:v")
                    .watermark(25)))
        .apply(fixed(10))
        .apply(Count.perKey())
        .apply(
            "second window",
            Window.<KV<String, Long>>into(FixedWindows.of(Duration.standardSeconds(20)))
                .triggering(
                    AfterWatermark.pastEndOfWindow()
                        .withEarlyFirings(AfterPane.elementCountAtLeast(1)))
                .withAllowedLateness(Duration.ZERO)
                .accumulatingFiredPanes())
        .apply(Sum.longsPerKey());
  }

  private static PCollection<?> joined(Pipeline pipeline) {
    PCollection<KV<String, String>> left =
        pipeline
            .apply("left", read("join-left", onTimeAndLate()))
            .apply("left window", fixed(10));
    PCollection<KV<String, String>> right =
        pipeline
            .apply(
                "right",
                read(
                    "join-right",
                    Script.split()
                        .at(1, "a:x").watermark(1).epochs(4)
                        .at(5, "b:y").watermark(11).epoch()
                        .at(12, "a:z").epoch()
                        .end()))
            .apply("right window", fixed(10));
    return KeyedPCollectionTuple.of(LEFT, left)
        .and(RIGHT, right)
        .apply(CoGroupByKey.create())
        .apply(
            MapElements.into(TypeDescriptors.strings())
                .via(
                    (KV<String, CoGbkResult> pair) ->
                        pair.getKey()
                            + " " + Recorder.text(pair.getValue().getAll(LEFT))
                            + " " + Recorder.text(pair.getValue().getAll(RIGHT))));
  }
}
