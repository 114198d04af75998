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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;

import java.util.stream.Stream;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.io.range.OffsetRange;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.options.StreamingOptions;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.windowing.AfterFirst;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.AfterProcessingTime;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Trigger;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What decides which engine runs a pipeline. */
class EngineChoiceTest {
  private final StreamingOptions options = PipelineOptionsFactory.as(StreamingOptions.class);
  private final Pipeline pipeline = Pipeline.create(options);

  private void assertStreaming(String reason) {
    EngineChoice choice = EngineChoice.of(pipeline, options);
    assertThat(choice.toString(), choice.streaming(), is(true));
    assertThat(choice.reason(), containsString(reason));
  }

  private void assertBatch() {
    EngineChoice choice = EngineChoice.of(pipeline, options);
    assertThat(choice.toString(), choice.streaming(), is(false));
  }

  private static Window<Integer> triggered(Trigger trigger) {
    return Window.<Integer>into(new GlobalWindows())
        .triggering(trigger)
        .discardingFiredPanes()
        .withAllowedLateness(Duration.ZERO);
  }

  @Test
  void aBoundedPipelineIsABatch() {
    pipeline
        .apply(Create.of(1, 2))
        .apply(triggered(Repeatedly.forever(AfterPane.elementCountAtLeast(1))));
    assertBatch();
  }

  @Test
  void streamingCanBeForced() {
    options.setStreaming(true);
    pipeline.apply(Create.of(1, 2));
    assertStreaming("--streaming=true");
  }

  @Test
  void anUnboundedReadIsAStream() {
    pipeline.apply("endless", GenerateSequence.from(0));
    assertStreaming("endless");
  }

  @Test
  void aTestStreamIsAStream() {
    pipeline.apply("events", TestStream.create(VarIntCoder.of()).advanceWatermarkToInfinity());
    assertStreaming("events");
  }

  @Test
  void anUnboundedSplittableDoFnIsAStream() {
    pipeline.apply(Create.of(1)).apply("endless", ParDo.of(new EndlessFn()));
    assertStreaming("endless");
  }

  @Test
  void aTriggerByProcessingTimeIsAStream() {
    pipeline
        .apply(Create.of(1))
        .apply(
            "triggered",
            triggered(
                Repeatedly.forever(
                    AfterFirst.of(
                        AfterPane.elementCountAtLeast(10),
                        AfterProcessingTime.pastFirstElementInPane()))));
    assertStreaming("by processing time");
  }

  static Stream<DoFn<Integer, Integer>> finalizing() {
    return Stream.of(new FinalizingFn(), new StartingFn(), new FinishingFn());
  }

  @ParameterizedTest
  @MethodSource("finalizing")
  void aSplittableDoFnThatHearsOfCommitsIsAStream(DoFn<Integer, Integer> finalizing) {
    pipeline.apply(Create.of(1)).apply("finalizing", ParDo.of(finalizing));
    assertStreaming("finalizing");
  }

  @Test
  void aSplittableDoFnWithBundlesAloneIsABatch() {
    pipeline.apply(Create.of(1)).apply("bundles", ParDo.of(new BundlesFn()));
    assertBatch();
  }

  /** Claims nothing. */
  @DoFn.BoundedPerElement
  abstract static class RangeFn extends DoFn<Integer, Integer> {
    @GetInitialRestriction
    public OffsetRange initial() {
      return new OffsetRange(0, 10);
    }

    @ProcessElement
    public ProcessContinuation process(RestrictionTracker<OffsetRange, Long> tracker) {
      return ProcessContinuation.stop();
    }
  }

  /** Wants to hear of commits from the start of a bundle on. */
  static final class StartingFn extends RangeFn {
    @StartBundle
    public void start(BundleFinalizer finalizer) {}
  }

  /** Wants to hear of commits when its bundle is finished. */
  static final class FinishingFn extends RangeFn {
    @FinishBundle
    public void finish(BundleFinalizer finalizer) {}
  }

  /** Wants to hear of no commit. */
  static final class BundlesFn extends RangeFn {
    @StartBundle
    public void start() {}

    @FinishBundle
    public void finish() {}
  }

  /** Wants to hear of commits between its bundles. */
  @DoFn.BoundedPerElement
  static final class FinalizingFn extends DoFn<Integer, Integer> {
    @GetInitialRestriction
    public OffsetRange initial() {
      return new OffsetRange(0, 10);
    }

    @ProcessElement
    public ProcessContinuation process(
        RestrictionTracker<OffsetRange, Long> tracker, BundleFinalizer finalizer) {
      return ProcessContinuation.stop();
    }
  }

  /** Would go on for ever. */
  @DoFn.UnboundedPerElement
  static final class EndlessFn extends DoFn<Integer, Integer> {
    @GetInitialRestriction
    public OffsetRange initial() {
      return new OffsetRange(0, Long.MAX_VALUE);
    }

    @ProcessElement
    public ProcessContinuation process(RestrictionTracker<OffsetRange, Long> tracker) {
      return ProcessContinuation.stop();
    }
  }
}
