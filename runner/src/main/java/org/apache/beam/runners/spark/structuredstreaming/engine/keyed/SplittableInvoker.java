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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.apache.beam.runners.core.OutputAndTimeBoundedSplittableProcessElementInvoker;
import org.apache.beam.runners.core.SideInputReader;
import org.apache.beam.runners.core.SplittableProcessElementInvoker;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LiveDoFn;
import org.apache.beam.runners.spark.structuredstreaming.translation.SplittableParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.SplittableProcessFn;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.DoFn.ProcessContinuation;
import org.apache.beam.sdk.transforms.reflect.DoFnInvoker;
import org.apache.beam.sdk.transforms.reflect.DoFnSignatures;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker.HasProgress;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker.TruncateResult;
import org.apache.beam.sdk.transforms.splittabledofn.WatermarkEstimator;
import org.apache.beam.sdk.values.CausedByDrain;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues;
import org.joda.time.Duration;

/**
 * Calls a splittable DoFn for what is left of its epoch's {@link TurnBudget}: runners-core's invoker,
 * which splits the restriction off when the time is over or enough was output, with all arguments that
 * a DoFn may ask for.
 */
final class SplittableInvoker
    extends SplittableProcessElementInvoker<Object, Object, Object, Object, Object> {
  /** Splits restrictions when their time is over; a split takes no longer than a claim. */
  private static final ScheduledExecutorService CLOCK = clock();

  private final SplittableParDoStep step;
  private final LiveDoFn liveDoFn;
  private final PipelineOptions options;
  private final TurnBudget budget;
  private final SideInputReader sideInputs;
  private final boolean draining;
  private final boolean givesSizes;
  private boolean truncatesNext;
  private Rest rest;

  /** What a call has left to do. */
  private record Rest(
      DoFnInvoker<Object, Object> invoker,
      RestrictionArguments<Object, Object> arguments,
      Object restriction) {}

  /**
   * @param draining whether the DoFn is told that it is called because of a drain
   */
  SplittableInvoker(
      SplittableParDoStep step,
      LiveDoFn liveDoFn,
      PipelineOptions options,
      TurnBudget budget,
      SideInputReader sideInputs,
      boolean draining) {
    this.step = step;
    this.liveDoFn = liveDoFn;
    this.options = options;
    this.budget = budget;
    this.sideInputs = sideInputs;
    this.draining = draining;
    DoFn<?, ?> doFn = ((SplittableProcessFn<?, ?, ?, ?, ?>) (DoFn<?, ?>) step.spec().doFn()).getFn();
    this.givesSizes = DoFnSignatures.signatureForDoFn(doFn).getSize() != null;
  }

  private static ScheduledExecutorService clock() {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "beam-splittable-dofn-clock");
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }

  /** Lets the next call truncate its restriction before it processes what is left of it. */
  void truncateNext() {
    truncatesNext = true;
  }

  /** Whether the DoFn has a {@code @GetSize}. */
  boolean givesSizes() {
    return givesSizes;
  }

  /**
   * The size of what the last call has left, which has left something: by the DoFn's {@code @GetSize},
   * else by the progress of its tracker.
   *
   * @return a whole number of at least 0, or {@link RestBacklog#UNKNOWN} if the DoFn has neither
   * @throws IllegalStateException if the DoFn gives something else
   */
  long sizeOfRest() {
    if (!givesSizes
        && !(rest.arguments().newTracker(rest.invoker(), rest.restriction()) instanceof HasProgress)) {
      return RestBacklog.UNKNOWN;
    }
    double size = rest.invoker().invokeGetSize(rest.arguments().about(rest.restriction()));
    if (!(size >= 0)) {
      throw new IllegalStateException(
          step.fullName() + ": the size of a restriction is " + size + ", it must be at least 0");
    }
    return Math.round(size);
  }

  @Override
  public Result invokeProcessElement(
      DoFnInvoker<Object, Object> invoker,
      WindowedValue<Object> element,
      RestrictionTracker<Object, Object> tracker,
      WatermarkEstimator<Object> watermarkEstimator,
      Map<String, PCollectionView<?>> sideInputMapping) {
    RestrictionTracker<Object, Object> left = tracker;
    RestrictionArguments<Object, Object> arguments =
        new RestrictionArguments<>(
            step.fullName(), element, options, sideInputs, sideInputMapping);
    if (truncatesNext) {
      truncatesNext = false;
      left = truncated(invoker, arguments, tracker);
      if (left == null) {
        return new Result(null, ProcessContinuation.stop(), null, null);
      }
    }
    Result result =
        process(
            invoker,
            draining ? causedByDrain(element) : element,
            left,
            watermarkEstimator,
            sideInputMapping);
    rest = new Rest(invoker, arguments, result.getResidualRestriction());
    return result;
  }

  /** A tracker of what is left of a restriction, null if that is nothing. */
  private static RestrictionTracker<Object, Object> truncated(
      DoFnInvoker<Object, Object> invoker,
      RestrictionArguments<Object, Object> arguments,
      RestrictionTracker<Object, Object> tracker) {
    TruncateResult<Object> truncated =
        invoker.invokeTruncateRestriction(arguments.aboutTracker(tracker));
    return truncated == null || truncated.getTruncatedRestriction() == null
        ? null
        : arguments.newTracker(invoker, truncated.getTruncatedRestriction());
  }

  private static WindowedValue<Object> causedByDrain(WindowedValue<Object> element) {
    return WindowedValues.of(
        element.getValue(),
        element.getTimestamp(),
        element.getWindows(),
        element.getPaneInfo(),
        element.getRecordId(),
        element.getRecordOffset(),
        CausedByDrain.CAUSED_BY_DRAIN);
  }

  @SuppressWarnings("unchecked") // elements are untyped between steps
  private Result process(
      DoFnInvoker<Object, Object> invoker,
      WindowedValue<Object> element,
      RestrictionTracker<Object, Object> tracker,
      WatermarkEstimator<Object> watermarkEstimator,
      Map<String, PCollectionView<?>> sideInputMapping) {
    DoFn<Object, Object> doFn = invoker.getFn();
    SplittableProcessElementInvoker<Object, Object, Object, Object, Object>.Result result =
        new OutputAndTimeBoundedSplittableProcessElementInvoker<Object, Object, Object, Object, Object>(
                doFn,
                options,
                liveDoFn,
                (TupleTag<Object>) step.spec().mainOutputTag(),
                sideInputs,
                CLOCK,
                budget.leftOutputs(),
                Duration.millis(budget.leftMillis()),
                liveDoFn.context()::bundleFinalizer)
            .invokeProcessElement(
                new SplittableDoFnInvoker(step, invoker, element),
                element,
                tracker,
                watermarkEstimator,
                sideInputMapping);
    return new Result(
        result.getResidualRestriction(),
        result.getContinuation(),
        result.getFutureOutputWatermark(),
        result.getFutureWatermarkEstimatorState());
  }
}
