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
package org.apache.beam.runners.spark.structuredstreaming.comparison;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.KvSwap;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.AfterAll;
import org.apache.beam.sdk.transforms.windowing.AfterEach;
import org.apache.beam.sdk.transforms.windowing.AfterFirst;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.AfterProcessingTime;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.CalendarWindows;
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
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.DateTimeZone;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** Windows and triggers of all kinds. */
final class WindowPipelines {
  private static final Duration LATENESS = Duration.standardDays(1);

  private WindowPipelines() {}

  static void addTo(Map<String, ComparedPipeline> all) {
    all.put("windows of a fixed size", WindowPipelines::fixed);
    all.put("windows of the calendar", WindowPipelines::calendar);
    all.put("windows that merge", WindowPipelines::sessions);
    all.put("timestamps of panes", WindowPipelines::combiners);
    all.put("triggers", WindowPipelines::triggers);
    all.put("triggers by processing time", WindowPipelines::processingTime);
  }

  private static void fixed(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    outcome.of("fixed", group(pairs, "Fixed", FixedWindows.of(Duration.standardSeconds(25))));
    outcome.of(
        "fixed with offset",
        group(
            pairs,
            "Offset",
            FixedWindows.of(Duration.standardSeconds(25)).withOffset(Duration.standardSeconds(3))));
    outcome.of(
        "sliding",
        group(
            pairs,
            "Sliding",
            SlidingWindows.of(Duration.standardSeconds(30)).every(Duration.standardSeconds(10))));
    outcome.of(
        "global again",
        pairs
            .apply("Small", Window.into(FixedWindows.of(Duration.standardSeconds(5))))
            .apply("CountSmall", Count.perKey())
            .apply("Global", Window.into(new GlobalWindows()))
            .apply("CountGlobal", Count.perKey()));
    outcome.of(
        "one grouping in the windows of another",
        pairs
            .apply("Outer", Window.into(FixedWindows.of(Duration.standardSeconds(40))))
            .apply("CountOuter", Count.perKey())
            .apply(KvSwap.create())
            .apply("GroupOuter", GroupByKey.create()));
  }

  private static PCollection<KV<String, Iterable<Long>>> group(
      PCollection<KV<String, Long>> pairs, String name, WindowFn<Object, ?> windowFn) {
    return pairs
        .apply(name, Window.into(windowFn))
        .apply("Group" + name, GroupByKey.create());
  }

  private static void calendar(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs =
        ComparedPipelines.pairs(pipeline)
            .apply("Weeks", ParDo.of(new WeekFn()));
    outcome.of("days", group(pairs, "Days", CalendarWindows.days(3)));
    outcome.of("weeks", group(pairs, "FromMonday", CalendarWindows.weeks(2, 1)));
    outcome.of("months", group(pairs, "Months", CalendarWindows.months(2)));
    outcome.of(
        "years",
        group(
            pairs,
            "Years",
            CalendarWindows.years(1)
                .beginningOnDay(6, 15)
                .withTimeZone(DateTimeZone.forID("Europe/Berlin"))));
  }

  /** A week for each number. */
  private static final class WeekFn extends DoFn<KV<String, Long>, KV<String, Long>> {
    @ProcessElement
    public void process(@Element KV<String, Long> pair, OutputReceiver<KV<String, Long>> out) {
      out.outputWithTimestamp(
          pair, Instant.EPOCH.plus(Duration.standardDays(7 * pair.getValue() + 1)));
    }
  }

  private static void sessions(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    Sessions sessions = Sessions.withGapDuration(Duration.standardSeconds(9));
    outcome.of("grouped", group(pairs, "Sessions", sessions));
    outcome.of(
        "combined", pairs.apply("Sums", Window.into(sessions)).apply(Sum.longsPerKey()));
    outcome.of(
        "merged again",
        pairs
            .apply("Again", Window.into(sessions))
            .apply("CountOnce", Count.perKey())
            .apply(Window.remerge())
            .apply("CountAgain", Count.perKey()));
  }

  private static void combiners(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    for (TimestampCombiner combiner : TimestampCombiner.values()) {
      outcome.of(
          combiner.name(),
          pairs
              .apply(
                  "Window" + combiner,
                  Window.<KV<String, Long>>into(FixedWindows.of(Duration.standardSeconds(40)))
                      .withTimestampCombiner(combiner))
              .apply("Count" + combiner, Count.perKey()));
    }
  }

  /**
   * How many panes there are depends on the order of elements; what all panes of a window hold together
   * does not.
   */
  private static void triggers(Pipeline pipeline, Outcome outcome) {
    Map<String, Trigger> triggers = new LinkedHashMap<>();
    triggers.put("Default", DefaultTrigger.of());
    triggers.put("AfterPane", Repeatedly.forever(AfterPane.elementCountAtLeast(3)));
    triggers.put(
        "EarlyAndLate",
        AfterWatermark.pastEndOfWindow()
            .withEarlyFirings(AfterPane.elementCountAtLeast(2))
            .withLateFirings(AfterPane.elementCountAtLeast(1)));
    triggers.put("Watermark", Repeatedly.forever(AfterWatermark.pastEndOfWindow()));
    triggers.put(
        "All",
        Repeatedly.forever(
            AfterAll.of(AfterPane.elementCountAtLeast(2), AfterPane.elementCountAtLeast(5))));
    triggers.put(
        "First",
        Repeatedly.forever(
            AfterFirst.of(AfterPane.elementCountAtLeast(4), AfterPane.elementCountAtLeast(6))));
    triggers.put(
        "Each",
        AfterEach.inOrder(
            AfterPane.elementCountAtLeast(2),
            Repeatedly.forever(AfterPane.elementCountAtLeast(3))));
    triggers.put(
        "OrFinally",
        Repeatedly.forever(
            Repeatedly.forever(AfterPane.elementCountAtLeast(2))
                .orFinally(AfterPane.elementCountAtLeast(7))));
    triggers.put("Never", Never.ever());
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    triggers.forEach((name, trigger) -> outcome.of(name, sums(pairs, name, trigger)));
  }

  private static PCollection<KV<String, Long>> sums(
      PCollection<KV<String, Long>> pairs, String name, Trigger trigger) {
    Window<KV<String, Long>> windows =
        Window.into(FixedWindows.of(Duration.standardSeconds(40)));
    return pairs
        .apply(
            "Triggered" + name,
            windows.triggering(trigger).withAllowedLateness(LATENESS).discardingFiredPanes())
        .apply("Partial" + name, Sum.longsPerKey())
        .apply(
            "Untriggered" + name,
            Window.<KV<String, Long>>configure()
                .triggering(DefaultTrigger.of())
                .withAllowedLateness(LATENESS)
                .accumulatingFiredPanes())
        .apply("Whole" + name, Sum.longsPerKey());
  }

  private static void processingTime(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    outcome.of(
        "AfterProcessingTime",
        sums(
            pairs,
            "ProcessingTime",
            Repeatedly.forever(
                AfterProcessingTime.pastFirstElementInPane()
                    .plusDelayOf(Duration.standardHours(1)))));
  }
}
