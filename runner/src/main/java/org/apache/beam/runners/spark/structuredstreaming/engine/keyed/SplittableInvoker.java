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
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.DoFn.ProcessContinuation;
import org.apache.beam.sdk.transforms.reflect.DoFnInvoker;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
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
  private boolean truncatesNext;

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

  @Override
  public Result invokeProcessElement(
      DoFnInvoker<Object, Object> invoker,
      WindowedValue<Object> element,
      RestrictionTracker<Object, Object> tracker,
      WatermarkEstimator<Object> watermarkEstimator,
      Map<String, PCollectionView<?>> sideInputMapping) {
    RestrictionTracker<Object, Object> left = tracker;
    if (truncatesNext) {
      truncatesNext = false;
      left = truncated(invoker, element, tracker, sideInputMapping);
      if (left == null) {
        return new Result(null, ProcessContinuation.stop(), null, null);
      }
    }
    return process(
        invoker,
        draining ? causedByDrain(element) : element,
        left,
        watermarkEstimator,
        sideInputMapping);
  }

  /** A tracker of what is left of a restriction, null if that is nothing. */
  private RestrictionTracker<Object, Object> truncated(
      DoFnInvoker<Object, Object> invoker,
      WindowedValue<Object> element,
      RestrictionTracker<Object, Object> tracker,
      Map<String, PCollectionView<?>> sideInputMapping) {
    RestrictionArguments<Object, Object> arguments =
        new RestrictionArguments<>(
            step.fullName(), element, options, sideInputs, sideInputMapping);
    TruncateResult<Object> truncated =
        invoker.invokeTruncateRestriction(arguments.about(tracker));
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
