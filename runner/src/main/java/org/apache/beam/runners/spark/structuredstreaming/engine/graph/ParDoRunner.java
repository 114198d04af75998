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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import java.util.List;
import java.util.Map;
import org.apache.beam.runners.core.DoFnRunner;
import org.apache.beam.runners.core.DoFnRunners;
import org.apache.beam.runners.core.NullSideInputReader;
import org.apache.beam.runners.core.StateInternals;
import org.apache.beam.runners.core.StepContext;
import org.apache.beam.runners.core.TimerInternals;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.translation.ParDoStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.reflect.DoFnInvokers;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.beam.sdk.util.UserCodeException;
import org.apache.beam.sdk.util.WindowedValueMultiReceiver;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.WindowedValue;

/**
 * Runs one ParDo on one level, on an instance of its DoFn that lives across epochs.
 *
 * <p>Lifecycle: set up before the first element ever, a bundle from an epoch's first element to the
 * epoch's end, torn down by {@link #tearDown}. A DoFn that sees no element in an epoch is not
 * touched in it. After a failure the instance must not be used again, only torn down.
 */
final class ParDoRunner implements ElementReceiver, WindowedValueMultiReceiver {
  private final ParDoStep step;
  private final PipelineOptions options;
  private final TaskMetrics metrics;
  private final TupleTag<?>[] tags;
  private final ElementReceiver[] receivers;
  private DoFn<Object, Object> doFn;
  private DoFnRunner<Object, Object> runner;
  private MetricsContainerImpl container;
  private boolean inBundle;

  /**
   * @param receivers where each output goes, in the order of the step's tags
   */
  ParDoRunner(
      ParDoStep step,
      PipelineOptions options,
      TaskMetrics metrics,
      List<ElementReceiver> receivers) {
    this.step = step;
    this.options = options;
    this.metrics = metrics;
    this.tags = step.outputTags().toArray(new TupleTag<?>[0]);
    this.receivers = receivers.toArray(new ElementReceiver[0]);
  }

  @Override
  public void accept(WindowedValue<Object> element) {
    if (!inBundle) {
      startBundle();
    }
    MetricsContainer outer = metrics.activate(container);
    try {
      runner.processElement(element);
    } catch (UserCodeException e) {
      throw failure("processing an element", e);
    } finally {
      metrics.activate(outer);
    }
  }

  @Override
  @SuppressWarnings("unchecked") // elements are untyped between steps
  public <T> void output(TupleTag<T> tag, WindowedValue<T> element) {
    for (int i = 0; i < tags.length; i++) {
      if (tags[i].equals(tag)) {
        receivers[i].accept((WindowedValue<Object>) element);
        return;
      }
    }
    throw new IllegalArgumentException(
        step.fullName() + ": output to the unknown tag " + tag + "; declared are " + List.of(tags));
  }

  /** Ends the epoch's bundle, if there is one. What it outputs is downstream on return. */
  void finishBundle() {
    if (!inBundle) {
      return;
    }
    MetricsContainer outer = metrics.activate(container);
    try {
      runner.finishBundle();
    } catch (UserCodeException e) {
      throw failure("finishing a bundle", e);
    } finally {
      metrics.activate(outer);
    }
    inBundle = false;
  }

  /** Tears the DoFn down if it was set up. It is not used afterwards. */
  void tearDown() {
    if (doFn != null) {
      DoFn<Object, Object> used = doFn;
      doFn = null;
      DoFnInvokers.invokerFor(used).invokeTeardown();
    }
  }

  private void startBundle() {
    container = metrics.container(step.fullName());
    MetricsContainer outer = metrics.activate(container);
    try {
      if (doFn == null) {
        setUp();
      }
      // Set before the call: a DoFn whose start of bundle fails is torn down like any other.
      inBundle = true;
      runner.startBundle();
    } catch (UserCodeException e) {
      throw failure("starting a bundle", e);
    } finally {
      metrics.activate(outer);
    }
  }

  @SuppressWarnings("unchecked") // elements are untyped between steps
  private void setUp() {
    DoFn<Object, Object> created = SerializableUtils.clone((DoFn<Object, Object>) step.doFn());
    try {
      // Tears it down itself when it fails.
      DoFnInvokers.tryInvokeSetupFor(created, options);
    } catch (UserCodeException e) {
      throw failure("setting up the DoFn", e);
    }
    doFn = created;
    runner =
        DoFnRunners.simpleRunner(
            options,
            doFn,
            NullSideInputReader.empty(),
            this,
            (TupleTag<Object>) step.mainOutputTag(),
            step.additionalOutputTags(),
            new StatelessContext(step.fullName()),
            (Coder<Object>) step.input().coder(),
            step.outputCoders(),
            step.input().windowingStrategy(),
            step.schemaInformation(),
            Map.of());
  }

  private StepFailedException failure(String doing, UserCodeException e) {
    // A step behind this one failed within this DoFn's output call: that one is the failure.
    if (e.getCause() instanceof StepFailedException downstream) {
      return downstream;
    }
    return new StepFailedException(step.fullName(), doing, e.getCause() == null ? e : e.getCause());
  }

  /** The context of a DoFn that has neither state nor timers; the translation lets no other in. */
  private static final class StatelessContext implements StepContext {
    private final String fullName;

    StatelessContext(String fullName) {
      this.fullName = fullName;
    }

    @Override
    public StateInternals stateInternals() {
      throw new IllegalStateException(fullName + ": state in a ParDo that was planned without");
    }

    @Override
    public TimerInternals timerInternals() {
      throw new IllegalStateException(fullName + ": timers in a ParDo that was planned without");
    }
  }
}
