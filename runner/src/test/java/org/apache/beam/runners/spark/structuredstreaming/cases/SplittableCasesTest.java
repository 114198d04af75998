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
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.is;

import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Counters;
import org.apache.beam.runners.spark.structuredstreaming.testing.OneTimeFaults;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.range.OffsetRange;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.splittabledofn.ManualWatermarkEstimator;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.splittabledofn.WatermarkEstimators;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;

/** Splittable DoFns: what is left of an element is taken up later, exactly once. */
class SplittableCasesTest extends PipelineCase {
  /** Gives a position and sets the watermark to its second, then rests. */
  @DoFn.UnboundedPerElement
  static final class SecondsFn extends DoFn<String, Long> {
    private final long positions;
    private final long delayMillis;
    private final boolean endsTimeAtOnce;

    SecondsFn(long positions, long delayMillis, boolean endsTimeAtOnce) {
      this.positions = positions;
      this.delayMillis = delayMillis;
      this.endsTimeAtOnce = endsTimeAtOnce;
    }

    @GetInitialRestriction
    public OffsetRange range() {
      return new OffsetRange(0, positions);
    }

    @GetInitialWatermarkEstimatorState
    public Instant initialWatermark() {
      return Instant.EPOCH;
    }

    @NewWatermarkEstimator
    public WatermarkEstimators.Manual estimator(@WatermarkEstimatorState Instant watermark) {
      return new WatermarkEstimators.Manual(watermark);
    }

    @ProcessElement
    public ProcessContinuation process(
        RestrictionTracker<OffsetRange, Long> tracker,
        ManualWatermarkEstimator<Instant> estimator,
        OutputReceiver<Long> out) {
      long position = tracker.currentRestriction().getFrom();
      if (!tracker.tryClaim(position)) {
        return ProcessContinuation.stop();
      }
      Instant time = Instant.ofEpochMilli(position * 1000);
      out.outputWithTimestamp(position, time);
      estimator.setWatermark(endsTimeAtOnce ? BoundedWindow.TIMESTAMP_MAX_VALUE : time);
      return ProcessContinuation.resume().withResumeDelay(Duration.millis(delayMillis));
    }
  }

  /** Gives a position in each call. */
  @DoFn.BoundedPerElement
  static final class StepwiseFn extends DoFn<String, Long> {
    @GetInitialRestriction
    public OffsetRange range() {
      return new OffsetRange(0, 5);
    }

    @ProcessElement
    public ProcessContinuation process(
        RestrictionTracker<OffsetRange, Long> tracker, OutputReceiver<Long> out) {
      long position = tracker.currentRestriction().getFrom();
      if (!tracker.tryClaim(position)) {
        return ProcessContinuation.stop();
      }
      out.output(position);
      return ProcessContinuation.resume();
    }
  }

  /** Gives a position with what the side input has, and rests. */
  @DoFn.UnboundedPerElement
  static final class SideInputFn extends DoFn<String, String> {
    @GetInitialRestriction
    public OffsetRange range(@SideInput("last") Integer last) {
      return new OffsetRange(0, last);
    }

    @ProcessElement
    public ProcessContinuation process(
        RestrictionTracker<OffsetRange, Long> tracker,
        @SideInput("last") Integer last,
        OutputReceiver<String> out) {
      long position = tracker.currentRestriction().getFrom();
      if (!tracker.tryClaim(position)) {
        return ProcessContinuation.stop();
      }
      out.output(position + " of " + last);
      return ProcessContinuation.resume().withResumeDelay(Duration.millis(1));
    }
  }

  /** Gives its one element in the call for position 4, and wants no delay before any. */
  @DoFn.UnboundedPerElement
  static final class PollingFn extends DoFn<String, String> {
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
        out.output(element);
      }
      return ProcessContinuation.resume();
    }
  }

  /** Never comes to an end of its own accord. */
  @DoFn.UnboundedPerElement
  static final class EndlessFn extends DoFn<String, Long> {
    @GetInitialRestriction
    public OffsetRange range() {
      return new OffsetRange(0, Long.MAX_VALUE);
    }

    @ProcessElement
    public void process(RestrictionTracker<OffsetRange, Long> tracker, OutputReceiver<Long> out) {
      long position = tracker.currentRestriction().getFrom();
      while (tracker.tryClaim(position)) {
        out.output(position);
        position++;
      }
    }
  }

  /** Tells all it may ask for besides the element. */
  @DoFn.BoundedPerElement
  static final class ArgumentsFn extends DoFn<String, String> {
    @GetInitialRestriction
    public OffsetRange range() {
      return new OffsetRange(0, 1);
    }

    @ProcessElement
    public void process(
        @Element String element,
        @Timestamp Instant timestamp,
        BoundedWindow window,
        PaneInfo pane,
        RestrictionTracker<OffsetRange, Long> tracker,
        OutputReceiver<String> out) {
      if (tracker.tryClaim(0L)) {
        out.output(
            element + " " + timestamp.getMillis() + " " + window.maxTimestamp().getMillis() + " "
                + pane.getTiming());
      }
    }
  }

  private PCollection<Long> seconds(Pipeline pipeline, SecondsFn fn) {
    return pipeline
        .apply(Create.of("x"))
        .apply("Seconds", ParDo.of(fn))
        .apply(recorder.as("positions"));
  }

  private void countByWindow(Pipeline pipeline, SecondsFn fn) {
    seconds(pipeline, fn)
        .apply(Window.into(FixedWindows.of(Duration.standardSeconds(5))))
        .apply(Combine.globally(Count.<Long>combineFn()).withoutDefaults())
        .apply(recorder.as("counts"));
  }

  private long epochOf(String name, String value) {
    return recorder.seen(name).stream()
        .filter(recorded -> recorded.value().equals(value))
        .mapToLong(Recorded::epoch)
        .findFirst()
        .orElseThrow();
  }

  private static List<String> positions(long count) {
    return LongStream.range(0, count).mapToObj(Long::toString).sorted().toList();
  }

  /** apache/beam#12603: the watermark of what is left holds that of the step. */
  @Test
  void windowsCloseWhenTheEstimatorHasPassedThem() {
    SparkStructuredStreamingPipelineResult result =
        run(pipeline -> countByWindow(pipeline, new SecondsFn(10, 100, false)));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
    assertThat(
        panes("counts", pane -> pane.window() + ":" + pane.value()),
        is(List.of("4999:5", "9999:5")));
    long epochOfFirst =
        recorder.seen("counts").stream()
            .filter(pane -> pane.window() == 4999)
            .mapToLong(Recorded::epoch)
            .findFirst()
            .orElseThrow();
    assertThat(epochOfFirst, greaterThanOrEqualTo(epochOf("positions", "5")));
    assertThat(epochOfFirst, greaterThan(epochOf("positions", "4")));
  }

  /** apache/beam#10301: the residual is resumed, not the restriction as it was. */
  @Test
  void eachPositionIsGivenOnceByCallsThatClaimOne() {
    run(
        pipeline ->
            pipeline
                .apply(Create.of("x"))
                .apply(ParDo.of(new StepwiseFn()))
                .apply(recorder.as("positions")));
    assertThat(recorder.values("positions"), is(positions(5)));
    // What is left without a delay is taken up in the same epoch.
    assertThat(epochOf("positions", "4"), is(epochOf("positions", "0")));
  }

  @Test
  void whatIsLeftSurvivesRestartsBehindEveryEpoch() {
    RestartHarness harness =
        harness(pipeline -> countByWindow(pipeline, new SecondsFn(6, 1, false)));
    int runs = harness.runEpochByEpoch();
    assertThat(runs, greaterThan(3));
    assertThat(recorder.values("positions"), is(positions(6)));
    assertThat(
        panes("counts", pane -> pane.window() + ":" + pane.value()),
        is(List.of("4999:5", "9999:1")));
  }

  @Test
  void whatIsLeftReadsItsSideInputBehindEveryRestart() {
    RestartHarness harness =
        harness(
            pipeline -> {
              PCollectionView<Integer> last =
                  pipeline.apply("Last", Create.of(3)).apply(View.asSingleton());
              pipeline
                  .apply(Create.of("x"))
                  .apply(Window.into(FixedWindows.of(Duration.standardSeconds(5))))
                  .apply(ParDo.of(new SideInputFn()).withSideInput("last", last))
                  .apply(recorder.as("read"));
            });
    int runs = harness.runEpochByEpoch();
    assertThat(runs, greaterThan(2));
    assertThat(recorder.values("read"), is(List.of("0 of 3", "1 of 3", "2 of 3")));
  }

  @Test
  void anEpochThatFailsBeginsWithTheSameRest() {
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    run(
        pipeline ->
            seconds(pipeline, new SecondsFn(6, 1, false))
                .apply(faults.on("fault", Set.of("2", "5")))
                .apply(recorder.as("passed")));
    assertThat(faults.happened("fault"), is(2));
    assertThat(recorder.values("passed"), is(positions(6)));
  }

  @Test
  void aPipelineIsNotAtItsEndWhileAnythingIsLeftWhateverTheEstimatorSays() {
    run(pipeline -> seconds(pipeline, new SecondsFn(4, 50, true)));
    assertThat(recorder.values("positions"), is(positions(4)));
  }

  @Test
  void whatGivesNothingIsAskedAgain() {
    run(
        pipeline ->
            pipeline
                .apply(Create.of("x", "y"))
                .apply(ParDo.of(new PollingFn()))
                .apply(recorder.as("polled")));
    assertThat(recorder.values("polled"), is(List.of("x", "y")));
  }

  @Test
  void whatNeverEndsIsSplitOffWhenItsTimeIsOver() {
    RestartHarness harness =
        new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            pipeline ->
                pipeline
                    .apply(Create.of("x"))
                    .apply(ParDo.of(new EndlessFn())),
            "--parallelism=2",
            "--maxBatchDurationMillis=50");
    assertThat(
        harness.runUntil("three epochs", result -> result.progress().epoch() >= 3),
        is(State.CANCELLED));
  }

  @Test
  void timestampWindowAndPaneAreThoseOfTheElement() {
    run(
        pipeline ->
            pipeline
                .apply(Create.of("x"))
                .apply("Seconds", ParDo.of(new SecondsFn(1, 1, false)))
                .apply(Window.into(FixedWindows.of(Duration.standardSeconds(5))))
                .apply(Combine.globally(Count.<Long>combineFn()).withoutDefaults())
                .apply(MapElements.into(TypeDescriptors.strings()).via(String::valueOf))
                .apply(ParDo.of(new ArgumentsFn()))
                .apply(recorder.as("arguments")));
    assertThat(recorder.values("arguments"), is(List.of("1 4999 4999 ON_TIME")));
  }
}
