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
package org.apache.beam.runners.spark.structuredstreaming.cases;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.beam.runners.direct.DirectRunner;
import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.windowing.AfterAll;
import org.apache.beam.sdk.transforms.windowing.AfterEach;
import org.apache.beam.sdk.transforms.windowing.AfterFirst;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.AfterProcessingTime;
import org.apache.beam.sdk.transforms.windowing.AfterSynchronizedProcessingTime;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.DefaultTrigger;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Never;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.transforms.windowing.Trigger;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.transforms.windowing.Window.ClosingBehavior;
import org.apache.beam.sdk.transforms.windowing.Window.OnTimeBehavior;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PDone;
import org.joda.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every trigger over one TestStream, all as branches of one pipeline: which panes there are and all
 * that is known of them, beside those of the DirectRunner, and beside a run that is started again
 * after every epoch.
 */
class TriggerComparisonTest extends PipelineCase {
  private static final Duration LATENESS = Duration.standardSeconds(20);
  private static final Map<String, Window<String>> WINDOWINGS = windowings();
  private static final String TWICE = "grouped twice";

  private static TestStream<String> stream() {
    return Events.stream()
        .at(1, "a").at(2, "b")
        .pass(4)
        .at(3, "c")
        .pass(2)
        .at(4, "d")
        .watermark(12)
        .pass(6)
        .at(5, "e").at(14, "f")
        .pass(6)
        .at(6, "g").at(15, "h")
        .then()
        .at(15.5, "i")
        .watermark(35)
        .at(7, "j").at(16, "k")
        .pass(7)
        .end();
  }

  private static Trigger.OnceTrigger count(int elements) {
    return AfterPane.elementCountAtLeast(elements);
  }

  private static AfterProcessingTime delay() {
    return AfterProcessingTime.pastFirstElementInPane().plusDelayOf(Duration.standardSeconds(5));
  }

  private static Window<String> windows(WindowFn<Object, ?> windowFn, Trigger trigger) {
    return Window.<String>into(windowFn)
        .triggering(trigger)
        .withAllowedLateness(LATENESS)
        .discardingFiredPanes();
  }

  private static Window<String> fixed(Trigger trigger) {
    return windows(FixedWindows.of(Duration.standardSeconds(10)), trigger);
  }

  private static Map<String, Window<String>> windowings() {
    Map<String, Window<String>> all = new LinkedHashMap<>();
    Map<String, Trigger> triggers = triggers();
    triggers.forEach((name, trigger) -> all.put(name, fixed(trigger)));
    triggers.forEach(
        (name, trigger) -> all.put(name + ", accumulating", fixed(trigger).accumulatingFiredPanes()));
    WindowFn<Object, ?> sliding =
        SlidingWindows.of(Duration.standardSeconds(10)).every(Duration.standardSeconds(5));
    all.put("sliding", windows(sliding, Repeatedly.forever(delay())));
    all.put("global", windows(new GlobalWindows(), Repeatedly.forever(delay())));
    WindowFn<Object, ?> sessions = Sessions.withGapDuration(Duration.standardSeconds(3));
    all.put("sessions", windows(sessions, earlyAndLate()));
    all.put("sessions, accumulating", windows(sessions, earlyAndLate()).accumulatingFiredPanes());
    addBehaviours(all);
    return all;
  }

  private static Trigger earlyAndLate() {
    return AfterWatermark.pastEndOfWindow().withEarlyFirings(delay()).withLateFirings(count(1));
  }

  private static Map<String, Trigger> triggers() {
    Map<String, Trigger> all = new LinkedHashMap<>();
    all.put("default", DefaultTrigger.of());
    all.put("never", Never.ever());
    all.put("early by time, late by count", earlyAndLate());
    all.put("late by time", AfterWatermark.pastEndOfWindow().withLateFirings(delay()));
    all.put("count", Repeatedly.forever(count(2)));
    all.put("delay", Repeatedly.forever(delay()));
    all.put(
        "aligned delay",
        Repeatedly.forever(
            AfterProcessingTime.pastFirstElementInPane().alignedTo(Duration.standardSeconds(3))));
    all.put("synchronized", Repeatedly.forever(AfterSynchronizedProcessingTime.ofFirstElement()));
    all.put("first", Repeatedly.forever(AfterFirst.of(count(3), delay())));
    all.put("all", Repeatedly.forever(AfterAll.of(count(2), delay())));
    all.put("each", AfterEach.inOrder(count(1), delay(), Repeatedly.forever(count(2))));
    all.put(
        "count or finally watermark",
        Repeatedly.forever(
            Repeatedly.forever(count(1)).orFinally(AfterWatermark.pastEndOfWindow())));
    all.put(
        "count or finally delay",
        Repeatedly.forever(Repeatedly.forever(count(2)).orFinally(delay())));
    return all;
  }

  private static void addBehaviours(Map<String, Window<String>> all) {
    all.put(
        "always closing",
        fixed(earlyAndLate()).withAllowedLateness(LATENESS, ClosingBehavior.FIRE_ALWAYS));
    all.put("on time if not empty", fixed(earlyAndLate()).withOnTimeBehavior(
        OnTimeBehavior.FIRE_IF_NON_EMPTY));
    all.put("earliest", fixed(earlyAndLate()).withTimestampCombiner(TimestampCombiner.EARLIEST));
    all.put("latest", fixed(earlyAndLate()).withTimestampCombiner(TimestampCombiner.LATEST));
    all.put("no lateness", fixed(earlyAndLate()).withAllowedLateness(Duration.ZERO));
    all.put(
        "watermark alone",
        fixed(AfterWatermark.pastEndOfWindow()).withAllowedLateness(Duration.ZERO));
  }

  private static void build(Pipeline pipeline, String run) {
    PCollection<String> input = pipeline.apply("stream", stream());
    WINDOWINGS.forEach(
        (name, windowing) ->
            input.apply(
                name,
                branch(
                    in ->
                        in.apply(windowing)
                            .apply(keyed())
                            .apply(GroupByKey.create())
                            .apply(ParDo.of(new GatheredPanes<>(run + name))))));
    input.apply(
        TWICE,
        branch(
            in ->
                in.apply(fixed(Repeatedly.forever(delay())))
                    .apply(keyed())
                    .apply("once", GroupByKey.create())
                    .apply(Values.create())
                    .apply(Flatten.iterables())
                    .apply("again", keyed())
                    .apply("twice", GroupByKey.create())
                    .apply(ParDo.of(new GatheredPanes<>(run + TWICE)))));
  }

  /** Names what a function applies. */
  private static PTransform<PCollection<String>, PDone> branch(
      Consumer<PCollection<String>> apply) {
    return new PTransform<>() {
      @Override
      public PDone expand(PCollection<String> input) {
        apply.accept(input);
        return PDone.in(input.getPipeline());
      }
    };
  }

  @BeforeAll
  static void runAll(@TempDir Path directory) {
    Pipeline direct =
        Pipeline.create(
            PipelineOptionsFactory.fromArgs("--runner=" + DirectRunner.class.getSimpleName())
                .create());
    build(direct, "direct");
    direct.run().waitUntilFinish();
    new RestartHarness(SPARK, directory.resolve("plain"), p -> build(p, "spark"), "--parallelism=2")
        .runToTheEnd();
    RestartHarness restarted =
        new RestartHarness(
            SPARK,
            directory.resolve("restarted"),
            p -> build(p, "restarted"),
            "--parallelism=2",
            "--triggerIntervalMillis=3600000",
            "--readerIdleTimeoutMillis=7200000");
    int runs = 1;
    while (restarted.runUntil("an epoch", result -> result.progress().epoch() >= 0)
        != State.DONE) {
      runs++;
    }
    assertThat(runs, is(stream().getEvents().size()));
  }

  static Stream<String> branches() {
    return Stream.concat(WINDOWINGS.keySet().stream(), Stream.of(TWICE));
  }

  @ParameterizedTest
  @MethodSource("branches")
  void panesAreThoseOfTheDirectRunner(String branch) {
    assertThat(GatheredPanes.set("spark" + branch), is(GatheredPanes.set("direct" + branch)));
  }

  @ParameterizedTest
  @MethodSource("branches")
  void panesAreTheSameWithAStartForEveryEpoch(String branch) {
    assertThat(GatheredPanes.set("restarted" + branch), is(GatheredPanes.set("spark" + branch)));
  }

  @Test
  void panesByDelayAreThoseOfTheModel() {
    assertThat(
        GatheredPanes.set("sparkearly by time, late by count"),
        contains(
            "to 19999: 0/-1 EARLY k=[f] at 19999",
            "to 19999: 1/0 ON_TIME k=[h, i] at 19999",
            "to 19999: 2/1 LATE k=[k] at 19999",
            "to 9999: 0/-1 EARLY k=[a, b, c] at 9999",
            "to 9999: 1/0 ON_TIME k=[d] at 9999",
            "to 9999: 2/1 LATE k=[e] at 9999",
            "to 9999: 3/2 LATE k=[g] at 9999"));
  }
}
