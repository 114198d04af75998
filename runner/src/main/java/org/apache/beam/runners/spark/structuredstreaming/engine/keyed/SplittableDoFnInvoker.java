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

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.translation.SplittableParDoStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CoderRegistry;
import org.apache.beam.sdk.schemas.SchemaCoder;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.DoFn.OutputReceiver;
import org.apache.beam.sdk.transforms.DoFn.ProcessContinuation;
import org.apache.beam.sdk.transforms.DoFnOutputReceivers;
import org.apache.beam.sdk.transforms.SerializableFunction;
import org.apache.beam.sdk.transforms.reflect.DoFnInvoker;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker.TruncateResult;
import org.apache.beam.sdk.transforms.splittabledofn.WatermarkEstimator;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.util.OutputBuilderSuppliers;
import org.apache.beam.sdk.values.Row;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.WindowedValue;

/**
 * Calls a splittable DoFn's {@code @ProcessElement} with window, pane and schema arguments besides
 * those that runners-core provides; all else is the invoker's own.
 */
final class SplittableDoFnInvoker implements DoFnInvoker<Object, Object> {
  private final SplittableParDoStep step;
  private final DoFnInvoker<Object, Object> invoker;
  private final WindowedValue<Object> element;

  /**
   * @param element in one window
   */
  SplittableDoFnInvoker(
      SplittableParDoStep step,
      DoFnInvoker<Object, Object> invoker,
      WindowedValue<Object> element) {
    this.step = step;
    this.invoker = invoker;
    this.element = element;
  }

  @Override
  public ProcessContinuation invokeProcessElement(ArgumentProvider<Object, Object> arguments) {
    return invoker.invokeProcessElement(new Arguments(arguments));
  }

  private final class Arguments extends DelegatingArgumentProvider<Object, Object> {
    private final ArgumentProvider<Object, Object> arguments;

    Arguments(ArgumentProvider<Object, Object> arguments) {
      super(arguments, step.fullName());
      this.arguments = arguments;
    }

    @Override
    public BoundedWindow window() {
      return element.getWindows().iterator().next();
    }

    @Override
    public PaneInfo paneInfo(DoFn<Object, Object> doFn) {
      return element.getPaneInfo();
    }

    @Override
    @SuppressWarnings("unchecked") // made for the DoFn's element
    public Object schemaElement(int index) {
      List<SerializableFunction<?, ?>> converters =
          step.schemaInformation().getElementConverters();
      return ((SerializableFunction<Object, Object>) converters.get(index)).apply(element.getValue());
    }

    @Override
    @SuppressWarnings("unchecked") // Beam has checked that the output has a schema
    public OutputReceiver<Row> outputRowReceiver(DoFn<Object, Object> doFn) {
      TupleTag<Object> tag = (TupleTag<Object>) step.spec().mainOutputTag();
      return DoFnOutputReceivers.rowReceiver(
          arguments.processContext(doFn),
          OutputBuilderSuppliers.supplierForElement(element),
          tag,
          (SchemaCoder<Object>) step.spec().outputCoders().get(tag));
    }
  }

  @Override
  public void invokeSetup(ArgumentProvider<Object, Object> arguments) {
    invoker.invokeSetup(arguments);
  }

  @Override
  public void invokeStartBundle(ArgumentProvider<Object, Object> arguments) {
    invoker.invokeStartBundle(arguments);
  }

  @Override
  public void invokeFinishBundle(ArgumentProvider<Object, Object> arguments) {
    invoker.invokeFinishBundle(arguments);
  }

  @Override
  public void invokeTeardown() {
    invoker.invokeTeardown();
  }

  @Override
  public void invokeOnWindowExpiration(ArgumentProvider<Object, Object> arguments) {
    invoker.invokeOnWindowExpiration(arguments);
  }

  @Override
  public void invokeOnTimer(
      String timerId, String timerFamilyId, ArgumentProvider<Object, Object> arguments) {
    invoker.invokeOnTimer(timerId, timerFamilyId, arguments);
  }

  @Override
  @SuppressWarnings("TypeParameterUnusedInFormals") // as the interface has it
  public <RestrictionT> RestrictionT invokeGetInitialRestriction(
      ArgumentProvider<Object, Object> arguments) {
    return invoker.invokeGetInitialRestriction(arguments);
  }

  @Override
  public <RestrictionT> Coder<RestrictionT> invokeGetRestrictionCoder(CoderRegistry registry) {
    return invoker.invokeGetRestrictionCoder(registry);
  }

  @Override
  public void invokeSplitRestriction(ArgumentProvider<Object, Object> arguments) {
    invoker.invokeSplitRestriction(arguments);
  }

  @Override
  public <RestrictionT> TruncateResult<RestrictionT> invokeTruncateRestriction(
      ArgumentProvider<Object, Object> arguments) {
    return invoker.invokeTruncateRestriction(arguments);
  }

  @Override
  public double invokeGetSize(ArgumentProvider<Object, Object> arguments) {
    return invoker.invokeGetSize(arguments);
  }

  @Override
  public <RestrictionT, PositionT> RestrictionTracker<RestrictionT, PositionT> invokeNewTracker(
      ArgumentProvider<Object, Object> arguments) {
    return invoker.invokeNewTracker(arguments);
  }

  @Override
  public <StateT> WatermarkEstimator<StateT> invokeNewWatermarkEstimator(
      ArgumentProvider<Object, Object> arguments) {
    return invoker.invokeNewWatermarkEstimator(arguments);
  }

  @Override
  @SuppressWarnings("TypeParameterUnusedInFormals") // as the interface has it
  public <StateT> StateT invokeGetInitialWatermarkEstimatorState(
      ArgumentProvider<Object, Object> arguments) {
    return invoker.invokeGetInitialWatermarkEstimatorState(arguments);
  }

  @Override
  public <StateT> Coder<StateT> invokeGetWatermarkEstimatorStateCoder(CoderRegistry registry) {
    return invoker.invokeGetWatermarkEstimatorStateCoder(registry);
  }

  @Override
  public DoFn<Object, Object> getFn() {
    return invoker.getFn();
  }
}
