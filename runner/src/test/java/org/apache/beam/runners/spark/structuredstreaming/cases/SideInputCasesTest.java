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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Counters;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.metrics.Counter;
import org.apache.beam.sdk.metrics.Metrics;
import org.apache.beam.sdk.testing.PAssert;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Latest;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.PartitioningWindowFn;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.transforms.windowing.WindowMappingFn;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionTuple;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TupleTagList;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which state of which window of a view an element reads, and when. */
class SideInputCasesTest extends SideInputCase {
  private static <T> Window<T> fixed(long seconds) {
    return Window.into(FixedWindows.of(Duration.standardSeconds(seconds)));
  }

  /** apache/beam#40090: outputs, side inputs and PAssert in an unbounded pipeline. */
  @Test
  void outputsAndSideInputOfAnUnboundedPipelineAreAsserted() {
    Script script = Script.split();
    for (int i = 0; i < 10; i++) {
      script.at(i, Integer.toString(i)).epoch();
    }
    SparkStructuredStreamingPipelineResult result =
        run(
            p -> {
              PCollectionView<String> view =
                  p.apply("x", Create.of("x")).apply("view", View.asSingleton());
              TupleTag<String> even = new TupleTag<>("even");
              TupleTag<String> odd = new TupleTag<>("odd");
              PCollectionTuple outputs =
                  p.apply(Script.read("two-outputs", script.end()))
                      .apply(
                          ParDo.of(new EvenAndOddFn(view, odd))
                              .withSideInputs(view)
                              .withOutputTags(even, TupleTagList.of(odd)));
              PAssert.that(outputs.get(even).setCoder(StringUtf8Coder.of()))
                  .containsInAnyOrder("0x", "2x", "4x", "6x", "8x");
              PAssert.that(outputs.get(odd).setCoder(StringUtf8Coder.of()))
                  .containsInAnyOrder("1x", "3x", "5x", "7x", "9x");
            });

    assertThat(Counters.committed(result, PAssert.SUCCESS_COUNTER), is(2L));
  }

  private static final class EvenAndOddFn extends DoFn<String, String> {
    private final PCollectionView<String> view;
    private final TupleTag<String> odd;

    EvenAndOddFn(PCollectionView<String> view, TupleTag<String> odd) {
      this.view = view;
      this.odd = odd;
    }

    @ProcessElement
    public void process(ProcessContext context) {
      String output = context.element() + context.sideInput(view);
      if (Long.parseLong(context.element()) % 2 == 0) {
        context.output(output);
      } else {
        context.output(odd, output);
      }
    }
  }

  /** apache/beam#18136, apache/beam#24035: made once for all readers, and changing while they run. */
  @Test
  void sideBranchRunsOnceForThreeReadersWhichSeeItGrow() {
    Script script = Script.split();
    for (int i = 0; i < 10; i++) {
      script.at(i, "S:" + i).epoch();
    }
    script.at(11, "M:m").epoch();
    SparkStructuredStreamingPipelineResult result =
        run(
            p -> {
              PCollection<String> all = p.apply(Script.read("three-readers", script.end()));
              PCollectionView<Iterable<String>> view =
                  all.apply(tagged("S"))
                      .apply(ParDo.of(new CountingFn()))
                      .apply(SideInputCase.<String>everyElement().accumulatingFiredPanes())
                      .apply(View.asIterable());
              PCollection<String> main = all.apply(tagged("M"));
              for (String reader : List.of("a", "b", "c")) {
                main.apply(reader, reading(view)).apply(recorder.as("read-" + reader));
              }
            });

    assertThat(Counters.committed(result, "seen"), is(10L));
    for (String reader : List.of("a", "b", "c")) {
      assertThat(
          recorder.values("read-" + reader), contains("m [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"));
    }
  }

  private static final class CountingFn extends DoFn<String, String> {
    private final Counter seen = Metrics.counter(CountingFn.class, "seen");

    @ProcessElement
    public void process(@Element String element, OutputReceiver<String> output) {
      seen.inc();
      output.output(element);
    }
  }

  /** apache/beam#21376, apache/beam#26465: the newest pane is the view, never two of them. */
  @Test
  void slowlyUpdatedSingletonIsItsNewestPane() {
    Script script =
        Script.split()
            .at(0, "S:a").epoch()
            .at(1, "M:1").epoch()
            .at(2, "S:b").at(3, "S:c").epoch()
            .at(4, "M:2").epoch()
            .end();
    run(
        p -> {
          PCollection<String> all = p.apply(Script.read("slowly-updated", script));
          PCollectionView<String> view =
              all.apply(tagged("S"))
                  .apply(everyElement())
                  .apply(Latest.globally())
                  .apply(View.asSingleton());
          all.apply(tagged("M")).apply(reading(view)).apply(recorder.as("read"));
        });

    assertThat(recorder.values("read"), contains("1 a", "2 c"));
  }

  /** As before, where the two panes of one epoch are two results of a combine in the view itself. */
  @Test
  void twoPanesOfACombineInOneEpochAreNotOneState() {
    Script script =
        Script.split()
            .at(1, "M:m").watermark(1).epoch()
            .at(2, "S:a").at(3, "S:b").watermark(20).epoch()
            .at(4, "S:c").epoch()
            .end();
    run(
        p -> {
          PCollection<String> all = p.apply(Script.read("two-panes", script));
          PCollectionView<Long> view =
              all.apply(tagged("S"))
                  .apply(
                      Window.<String>into(FixedWindows.of(Duration.standardSeconds(10)))
                          .triggering(
                              AfterWatermark.pastEndOfWindow()
                                  .withEarlyFirings(AfterPane.elementCountAtLeast(2))
                                  .withLateFirings(AfterPane.elementCountAtLeast(1)))
                          .withAllowedLateness(Duration.standardDays(1))
                          .accumulatingFiredPanes())
                  .apply(Combine.globally(Count.<String>combineFn()).withoutDefaults())
                  .apply(View.asSingleton());
          all.apply(tagged("M"))
              .apply(fixed(10))
              .apply(reading(view))
              .apply(recorder.as("read"));
        });

    // The early and the on-time pane of the second epoch say the same; a sum of both would be 4.
    assertThat(recorder.values("read"), contains("m 2"));
  }

  /** apache/beam#18780: what a pane holds is up to the accumulation mode. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void triggeredMultimapHoldsWhatItsPanesHold(boolean accumulating) {
    Script script =
        Script.split()
            .at(0, "S:a=1").epoch()
            .at(1, "M:1").epoch()
            .at(2, "S:a=2").epoch()
            .at(3, "M:2").epoch()
            .end();
    Window<String> window =
        Window.<String>into(new GlobalWindows())
            .triggering(Repeatedly.forever(AfterPane.elementCountAtLeast(1)))
            .withAllowedLateness(Duration.ZERO);
    run(
        p -> {
          PCollection<String> all = p.apply(Script.read("multimap-" + accumulating, script));
          PCollectionView<?> view =
              all.apply(tagged("S"))
                  .apply(
                      accumulating
                          ? window.accumulatingFiredPanes()
                          : window.discardingFiredPanes())
                  .apply(pairs())
                  .apply(View.asMultimap());
          all.apply(tagged("M")).apply(reading(view)).apply(recorder.as("read"));
        });

    assertThat(
        recorder.values("read"),
        contains("1 {a=[1]}", accumulating ? "2 {a=[1, 2]}" : "2 {a=[2]}"));
  }

  /** apache/beam#29557 (i): every window has a value of its own. */
  @Test
  void fixedWindowsReadTheirOwnSingleton() {
    Script script =
        Script.split().at(2, "M:2").at(12, "M:12").epoch().at(1, "S:A").at(11, "S:B").epoch().end();
    run(
        p -> {
          PCollection<String> all =
              p.apply(Script.read("own-singleton", script)).apply(fixed(10));
          PCollectionView<String> view = all.apply(tagged("S")).apply(View.asSingleton());
          all.apply(tagged("M")).apply(reading(view)).apply(recorder.as("read"));
        });

    assertThat(recorder.values("read"), contains("12 B", "2 A"));
  }

  /** apache/beam#1601 (ii): an element in two windows reads the view in each of them. */
  @Test
  void elementInTwoWindowsReadsEachByItself() {
    Script script =
        Script.split().at(7, "S:a").at(12, "M:m").epoch().at(12, "S:b").at(13, "S:c").epoch().end();
    run(
        p -> {
          PCollection<String> all =
              p.apply(Script.read("two-windows", script))
                  .apply(
                      Window.into(
                          SlidingWindows.of(Duration.standardSeconds(10))
                              .every(Duration.standardSeconds(5))));
          PCollectionView<Long> view =
              all.apply(tagged("S"))
                  .apply(Combine.globally(Count.<String>combineFn()).withoutDefaults())
                  .apply(View.asSingleton());
          all.apply(tagged("M")).apply(reading(view)).apply(recorder.as("read"));
        });

    assertThat(
        panes("read", each -> each.value() + " to " + each.window()),
        contains("m 3 to 14999", "m 2 to 19999"));
  }

  /** apache/beam#18993 (iii): windows of the sides differ. */
  @Test
  void smallMainWindowsReadTheLargeOnesAroundThem() {
    Script script =
        Script.split()
            .at(12, "M:12").at(70, "M:70").epoch()
            .at(5, "S:s1").at(65, "S:s2").epoch()
            .end();
    run(
        p -> {
          PCollection<String> all = p.apply(Script.read("large-windows", script));
          PCollectionView<String> view =
              all.apply(tagged("S")).apply("side", fixed(60)).apply(View.asSingleton());
          all.apply(tagged("M"))
              .apply("main", fixed(10))
              .apply(reading(view))
              .apply(recorder.as("read"));
        });

    assertThat(recorder.values("read"), contains("12 s1", "70 s2"));
  }

  /** apache/beam#18993 (iv): a window function with a mapping of its own. */
  @Test
  void ownMappingReadsThePreviousWindow() {
    Script script =
        Script.split()
            .at(1, "S:first").at(11, "S:second").watermark(1).epoch()
            .at(12, "M:12").watermark(12).epoch()
            .at(22, "M:22").epoch()
            .end();
    run(
        p -> {
          PCollection<String> all = p.apply(Script.read("previous-window", script));
          PCollectionView<String> view =
              all.apply(tagged("S"))
                  .apply("side", Window.into(new PreviousWindows(Duration.standardSeconds(10))))
                  .apply(View.asSingleton());
          all.apply(tagged("M"))
              .apply("main", fixed(10))
              .apply(reading(view))
              .apply(recorder.as("read"));
        });

    assertThat(recorder.values("read"), contains("12 first", "22 second"));
  }

  /** A mapping that looks back further than it says finds nothing, which is no empty view. */
  @Test
  void mappingThatHidesItsLookbackFailsInsteadOfReadingNothing() {
    Script script =
        Script.split()
            .at(1, "S:first").watermark(1).epoch()
            .watermark(15).epoch()
            .at(16, "M:16").epoch()
            .end();
    Throwable failure =
        harness(
                p -> {
                  PCollection<String> all = p.apply(Script.read("hidden-lookback", script));
                  PCollectionView<String> view =
                      all.apply(tagged("S"))
                          .apply("side", Window.into(new PreviousWindows(Duration.ZERO)))
                          .apply(View.asSingleton());
                  all.apply(tagged("M"))
                      .apply("main", fixed(10))
                      .apply(reading(view))
                      .apply(recorder.as("read"));
                })
            .runToFailure();

    assertThat(failure.toString(), containsString("whose maximum lookback is PT0S"));
  }

  /** Windows of ten seconds, of which a main window reads the one before its own. */
  private static final class PreviousWindows extends PartitioningWindowFn<Object, IntervalWindow> {
    private static final Duration SIZE = Duration.standardSeconds(10);

    private final Duration lookback;

    PreviousWindows(Duration lookback) {
      this.lookback = lookback;
    }

    @Override
    public IntervalWindow assignWindow(Instant timestamp) {
      return FixedWindows.of(SIZE).assignWindow(timestamp);
    }

    @Override
    public Coder<IntervalWindow> windowCoder() {
      return IntervalWindow.getCoder();
    }

    @Override
    public WindowMappingFn<IntervalWindow> getDefaultWindowMappingFn() {
      return new WindowMappingFn<>(lookback) {
        @Override
        public IntervalWindow getSideInputWindow(BoundedWindow mainWindow) {
          return assignWindow(mainWindow.maxTimestamp().minus(SIZE));
        }
      };
    }

    @Override
    @Deprecated
    public boolean isCompatible(WindowFn<?, ?> other) {
      return other instanceof PreviousWindows;
    }
  }
}
