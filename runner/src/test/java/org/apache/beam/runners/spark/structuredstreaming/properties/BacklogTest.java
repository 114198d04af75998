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
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasProperty;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.StepProgress;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.io.range.OffsetRange;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.splittabledofn.SplitResult;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** How much is left of the restrictions of a splittable DoFn, as the progress of its step tells. */
class BacklogTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  private static final Map<String, AtomicInteger> ASKED = new ConcurrentHashMap<>();

  @TempDir Path directory;

  /** Gives a size that is no whole number, and counts how often it was asked for one. */
  @DoFn.BoundedPerElement
  static final class SizedFn extends PositionsFn {
    private final String test;

    SizedFn(String test) {
      super(4);
      this.test = test;
    }

    @GetSize
    public double size(@Restriction OffsetRange range) {
      ASKED.get(test).incrementAndGet();
      return 10.5 * (range.getTo() - range.getFrom());
    }
  }

  /** Gives no size. */
  @DoFn.BoundedPerElement
  static final class WithoutSizeFn extends DoFn<String, String> {
    @GetInitialRestriction
    public OffsetRange range() {
      return new OffsetRange(0, 4);
    }

    @NewTracker
    public SilentTracker tracker(@Restriction OffsetRange range) {
      return new SilentTracker(range);
    }

    @ProcessElement
    public ProcessContinuation process(
        @Element String element,
        RestrictionTracker<OffsetRange, Long> tracker,
        OutputReceiver<String> out) {
      tracker.tryClaim(tracker.currentRestriction().getFrom());
      out.output(element);
      return ProcessContinuation.resume().withResumeDelay(Duration.standardHours(1));
    }
  }

  /** Tells nothing of its progress. */
  static final class SilentTracker extends RestrictionTracker<OffsetRange, Long> {
    private OffsetRange range;

    SilentTracker(OffsetRange range) {
      this.range = range;
    }

    @Override
    public boolean tryClaim(Long position) {
      return position < range.getTo();
    }

    @Override
    public OffsetRange currentRestriction() {
      return range;
    }

    @Override
    public SplitResult<OffsetRange> trySplit(double fraction) {
      long middle = range.getFrom() + 1;
      OffsetRange left = new OffsetRange(middle, range.getTo());
      range = new OffsetRange(range.getFrom(), middle);
      return SplitResult.of(range, left);
    }

    @Override
    public void checkDone() {}

    @Override
    public IsBounded isBounded() {
      return IsBounded.BOUNDED;
    }
  }

  /** Fails when it is asked for the size of a rest; a whole restriction has one. */
  @DoFn.BoundedPerElement
  static final class FailingFn extends PositionsFn {
    FailingFn() {
      super(4);
    }

    @GetSize
    public double size(@Restriction OffsetRange range) {
      if (range.getFrom() > 0) {
        throw new IllegalStateException("no size of " + range);
      }
      return 1;
    }
  }

  private Recorder recorder() {
    return new Recorder(directory.resolve("records"));
  }

  private RestartHarness harness(DoFn<String, String> positions) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint"),
        pipeline ->
            pipeline
                .apply(Create.of("x", "y", "z"))
                .apply("Positions", ParDo.of(positions))
                .apply(recorder().as("positions")),
        "--maxRestarts=0");
  }

  private static StepProgress positions(SparkStructuredStreamingPipelineResult result) {
    List<StepProgress> steps =
        result.progress().steps().stream()
            .filter(step -> step.fullName().startsWith("Positions/"))
            .filter(step -> step.rowsIn() > 0 || step.stateRows() > 0)
            .toList();
    assertThat(steps.toString(), steps.size(), is(1));
    return steps.get(0);
  }

  /** A run in which all three elements wait for their second turn, behind an epoch without any turn. */
  private SparkStructuredStreamingPipelineResult waiting(RestartHarness harness) {
    SparkStructuredStreamingPipelineResult result = harness.start();
    recorder().await("positions", 3);
    long epoch = Math.max(0, result.progress().epoch());
    Await.until(
        "epochs without a turn",
        () ->
            (result.progress().epoch() > epoch + 2 && result.progressJson() != null)
                || result.getState().isTerminal(),
        result::getState);
    return result;
  }

  @Test
  void theProgressOfATrackerIsTheSizeOfARestAndOutlastsARestart() {
    RestartHarness harness = harness(new PositionsFn.Bounded());
    for (int run = 0; run < 2; run++) {
      SparkStructuredStreamingPipelineResult result = waiting(harness);
      assertThat(positions(result).backlog(), is(9L));
      assertThat(result.progressJson(), containsString("/backlog\":\"9\""));
      result.cancel();
    }
    SparkStructuredStreamingPipelineResult result = waiting(harness);
    result.drain();
    RestartHarness.finish(result);
    assertThat(result.progressJson(), containsString("/backlog\":\"0\""));
  }

  @Test
  void theDoFnIsAskedForTheSizeOfTheRestsThatAnEpochLeaves() {
    AtomicInteger asked = new AtomicInteger();
    ASKED.put("sized", asked);
    SparkStructuredStreamingPipelineResult result = waiting(harness(new SizedFn("sized")));
    assertThat("32 is 31.5, rounded", positions(result).backlog(), is(3 * 32L));
    int before = asked.get();
    long epoch = result.progress().epoch();
    Await.until(
        "more epochs without a turn",
        () -> result.progress().epoch() > epoch + 2,
        result::getState);
    assertThat(asked.get(), is(before));
    result.drain();
    RestartHarness.finish(result);
    assertThat("each leaves two rests more", asked.get(), is(before + 3 * 2));
  }

  @Test
  void aSumThatIsTooLargeToBeToldIsStillExact() {
    SparkStructuredStreamingPipelineResult result = waiting(harness(new PositionsFn.Endless()));
    assertThat(positions(result).backlog(), is(Long.MAX_VALUE));
    result.drain();
    RestartHarness.finish(result);
    assertThat(result.progressJson(), containsString("/backlog\":\"0\""));
  }

  @Test
  void aDoFnWithoutSizesHasNoBacklog() {
    SparkStructuredStreamingPipelineResult result = waiting(harness(new WithoutSizeFn()));
    assertThat(positions(result).backlog(), is(-1L));
    assertThat(result.progressJson(), not(containsString("/backlog\"")));
    result.cancel();
  }

  @Test
  void aSizeThatFailsFailsTheEpochAndNamesTheStep() {
    Throwable failure = harness(new FailingFn()).runToFailure();
    assertThat(failure.getMessage(), containsString("no size of [1, 4)"));
    assertThat(
        List.of(failure.getSuppressed()),
        hasItem(hasProperty("message", containsString("Positions/"))));
    assertThat(
        List.of(failure.getSuppressed()),
        hasItem(hasProperty("message", containsString("the size of what is left"))));
  }
}
