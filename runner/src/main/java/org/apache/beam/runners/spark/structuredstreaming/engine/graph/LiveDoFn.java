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
import java.util.Objects;
import org.apache.beam.runners.core.DoFnRunner;
import org.apache.beam.runners.core.DoFnRunners;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.translation.DoFnSpec;
import org.apache.beam.runners.spark.structuredstreaming.translation.SplittableProcessFn;
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
import org.apache.spark.TaskContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One instance of a step's DoFn, which lives across epochs, with the runner that calls it.
 *
 * <p>Lifecycle: set up before the first call ever, a bundle from an epoch's first call to {@link
 * #finishBundle}, torn down by {@link #tearDown}. A DoFn that is not called in an epoch is not
 * touched in it. After a failure the instance must not be used again, only torn down.
 *
 * <p>Elements go to {@link #processElement}. How to call it otherwise: {@code outer = enter(); try {
 * runner().…; } catch (UserCodeException e) { throw failure(…, e); } finally { leave(outer); }}. Used by
 * one task at a time.
 */
public final class LiveDoFn implements WindowedValueMultiReceiver {
  private static final Logger LOG = LoggerFactory.getLogger(LiveDoFn.class);

  private final String fullName;
  private final DoFnSpec spec;
  private final PipelineOptions options;
  private final TaskMetrics metrics;
  private final TupleTag<?>[] tags;
  private final ElementReceiver[] receivers;
  private final DoFnContext context;
  private DoFn<Object, Object> doFn;
  private DoFnRunner<Object, Object> runner;
  private MetricsContainerImpl container;
  private boolean inBundle;
  private boolean warnedOfInterruption;
  private final long[] outputs;

  /**
   * @param receivers where each output goes, in the order of the spec's tags
   */
  LiveDoFn(
      String fullName,
      DoFnSpec spec,
      PipelineOptions options,
      TaskMetrics metrics,
      List<ElementReceiver> receivers) {
    this.fullName = Objects.requireNonNull(fullName, "fullName");
    this.spec = Objects.requireNonNull(spec, "spec");
    this.options = options;
    this.metrics = metrics;
    this.tags = spec.outputTags().toArray(new TupleTag<?>[0]);
    this.receivers = receivers.toArray(new ElementReceiver[0]);
    this.outputs = new long[tags.length];
    this.context = new DoFnContext(fullName);
  }

  String fullName() {
    return fullName;
  }

  public DoFnSpec spec() {
    return spec;
  }

  /** What its calls reach of the epoch. */
  public DoFnContext context() {
    return context;
  }

  /**
   * Sees to it that a bundle is open and that what user code counts is the step's.
   *
   * @return for {@link #leave}
   */
  public MetricsContainer enter() {
    if (!inBundle) {
      startBundle();
    }
    return metrics.activate(container);
  }

  /** The counterpart of {@link #enter}, whatever happened in between. */
  public void leave(MetricsContainer outer) {
    metrics.activate(outer);
  }

  /** Hands an element to the DoFn; what it outputs is downstream on return. */
  public void processElement(WindowedValue<Object> element) {
    MetricsContainer outer = enter();
    try {
      runner.processElement(element);
    } catch (UserCodeException e) {
      throw failure("processing an element", e);
    } finally {
      leave(outer);
    }
    if (Thread.currentThread().isInterrupted()) {
      clearInterruption();
    }
  }

  /** What calls the DoFn; there since the first {@link #enter}, the same ever after. */
  public DoFnRunner<Object, Object> runner() {
    return runner;
  }

  @Override
  @SuppressWarnings("unchecked") // elements are untyped between steps
  public <T> void output(TupleTag<T> tag, WindowedValue<T> element) {
    for (int i = 0; i < tags.length; i++) {
      if (tags[i].equals(tag)) {
        outputs[i]++;
        receivers[i].accept((WindowedValue<Object>) element);
        return;
      }
    }
    throw new IllegalArgumentException(
        fullName + ": output to the unknown tag " + tag + "; declared are " + List.of(tags));
  }

  /** Elements output since the last call; counts them in the metrics of the present epoch. */
  public long takeOutputs() {
    long taken = 0;
    for (int i = 0; i < outputs.length; i++) {
      metrics.countElements(fullName, spec.outputs().get(i), outputs[i]);
      taken += outputs[i];
      outputs[i] = 0;
    }
    return taken;
  }

  /** Ends the epoch's bundle, if there is one. What it outputs is downstream on return. */
  public void finishBundle() {
    context.unbind();
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
    if (Thread.currentThread().isInterrupted()) {
      clearInterruption();
    }
  }

  /** Tears the DoFn down if it was set up. It is not used afterwards. */
  void tearDown() {
    if (doFn != null) {
      DoFn<Object, Object> used = doFn;
      doFn = null;
      DoFnInvokers.invokerFor(used).invokeTeardown();
    }
  }

  /** The failure to throw for an exception of the DoFn's: names this step, or one behind it. */
  public StepFailedException failure(String doing, UserCodeException e) {
    // A step behind this one failed within this DoFn's output call: that one is the failure.
    if (e.getCause() instanceof StepFailedException downstream) {
      return downstream;
    }
    return new StepFailedException(fullName, doing, e.getCause() == null ? e : e.getCause());
  }

  private void startBundle() {
    container = metrics.container(fullName);
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

  /**
   * Takes back an interruption that user code has left in the task's thread and that Spark knows nothing
   * of: the next write to a file would fail for it, in a place that tells nothing of this step. One by
   * Spark, which marks the task before it interrupts, stays.
   */
  private void clearInterruption() {
    TaskContext task = TaskContext.get();
    if (task == null || task.isInterrupted()) {
      return;
    }
    Thread.interrupted();
    if (task.isInterrupted()) {
      Thread.currentThread().interrupt();
    } else if (!warnedOfInterruption) {
      warnedOfInterruption = true;
      LOG.warn(
          "{}: the DoFn, or something that it called, has interrupted its own thread and left it so."
              + " The interruption is taken back.",
          fullName);
    }
  }

  @SuppressWarnings("unchecked") // elements are untyped between steps
  private void setUp() {
    DoFn<Object, Object> created;
    try {
      created = SerializableUtils.clone((DoFn<Object, Object>) spec.doFn());
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      throw new StepFailedException(fullName, "copying the DoFn", e);
    }
    try {
      // Tears it down itself when it fails.
      DoFnInvokers.tryInvokeSetupFor(created, options);
    } catch (UserCodeException e) {
      throw failure("setting up the DoFn", e);
    }
    doFn = created;
    if ((DoFn<?, ?>) created instanceof SplittableProcessFn<?, ?, ?, ?, ?> splittable) {
      splittable.setBundleFinalizer(context.bundleFinalizer());
    }
    runner =
        DoFnRunners.simpleRunner(
            options,
            doFn,
            context.sideInputs(),
            this,
            (TupleTag<Object>) spec.mainOutputTag(),
            spec.additionalOutputTags(),
            context,
            (Coder<Object>) spec.inputCoderOrNull(),
            spec.outputCoders(),
            spec.input().windowingStrategy(),
            spec.schemaInformation(),
            spec.sideInputs());
  }
}
