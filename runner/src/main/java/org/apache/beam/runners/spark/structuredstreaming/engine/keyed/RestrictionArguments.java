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
import org.apache.beam.runners.core.SideInputReader;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.reflect.DoFnInvoker;
import org.apache.beam.sdk.transforms.reflect.DoFnInvoker.BaseArgumentProvider;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.WindowedValue;
import org.joda.time.Instant;

/**
 * What methods of a splittable DoFn that are about a restriction, and process nothing, may ask for: the
 * element, its one window, the restriction, side inputs and options.
 *
 * @param <InputT> of the DoFn's elements
 * @param <OutputT> of what it outputs
 */
final class RestrictionArguments<InputT, OutputT> extends BaseArgumentProvider<InputT, OutputT> {
  private final String fullName;
  private final WindowedValue<InputT> element;
  private final PipelineOptions options;
  private final SideInputReader sideInputs;
  private final Map<String, PCollectionView<?>> views;
  private Object restriction;
  private RestrictionTracker<?, ?> tracker;

  /**
   * @param element in one window
   * @param views the DoFn's side inputs by their tags
   */
  RestrictionArguments(
      String fullName,
      WindowedValue<InputT> element,
      PipelineOptions options,
      SideInputReader sideInputs,
      Map<String, PCollectionView<?>> views) {
    this.fullName = fullName;
    this.element = element;
    this.options = options;
    this.sideInputs = sideInputs;
    this.views = views;
  }

  /** Lets the calls that follow be about what a tracker has. */
  RestrictionArguments<InputT, OutputT> aboutTracker(RestrictionTracker<?, ?> ofRestriction) {
    tracker = ofRestriction;
    return about(ofRestriction.currentRestriction());
  }

  /** Lets the calls that follow be about a restriction; the tracker stays what it is. */
  RestrictionArguments<InputT, OutputT> about(Object ofRestriction) {
    restriction = ofRestriction;
    return this;
  }

  /** Makes a tracker of another restriction, and lets the calls that follow be about that. */
  <RestrictionT> RestrictionTracker<RestrictionT, Object> newTracker(
      DoFnInvoker<InputT, OutputT> invoker, RestrictionT ofRestriction) {
    restriction = ofRestriction;
    RestrictionTracker<RestrictionT, Object> made = invoker.invokeNewTracker(this);
    tracker = made;
    return made;
  }

  @Override
  public InputT element(DoFn<InputT, OutputT> doFn) {
    return element.getValue();
  }

  @Override
  public Object restriction() {
    return restriction;
  }

  @Override
  public RestrictionTracker<?, ?> restrictionTracker() {
    return tracker;
  }

  @Override
  public Instant timestamp(DoFn<InputT, OutputT> doFn) {
    return element.getTimestamp();
  }

  @Override
  public PaneInfo paneInfo(DoFn<InputT, OutputT> doFn) {
    return element.getPaneInfo();
  }

  @Override
  public BoundedWindow window() {
    return element.getWindows().iterator().next();
  }

  @Override
  public PipelineOptions pipelineOptions() {
    return options;
  }

  @Override
  public Object sideInput(String tag) {
    PCollectionView<?> view = views.get(tag);
    if (view == null) {
      throw new IllegalArgumentException(fullName + ": there is no side input " + tag);
    }
    return sideInputs.get(view, view.getWindowMappingFn().getSideInputWindow(window()));
  }

  @Override
  public String getErrorContext() {
    return fullName;
  }
}
