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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.beam.runners.core.LateDataUtils;
import org.apache.beam.runners.core.SideInputReader;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewParts;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.WindowMappingFn;
import org.apache.beam.sdk.values.PCollectionView;

/** The views that one step reads, in one partition and epoch. */
final class StepSideInputs implements SideInputReader {
  private final KeyedStep step;
  private final Map<PCollectionView<?>, ReadableView> views;
  private final List<Mapped> mapped = new ArrayList<>();
  private final StepWatermarks clock;

  private record Mapped(
      ReadableView readable, WindowMappingFn<? extends BoundedWindow> mapping) {}

  /** Whether an element of a main window can be processed. */
  enum State {
    /** All views are ready for it. */
    READY,

    /** A view is not: the element has to wait. */
    NOT_READY,

    /** The window has expired, and with it what a view had for it: the element is too late. */
    COLLECTED
  }

  StepSideInputs(
      KeyedStep step, Map<PCollectionView<?>, ReadableView> views, StepWatermarks clock) {
    this.step = step;
    this.views = views;
    this.clock = clock;
    views.forEach(
        (view, readable) -> mapped.add(new Mapped(readable, ViewParts.windowMapping(view))));
    addConsumer(() -> minus(clock.inputWatermark(), latenessMillis()));
  }

  /**
   * Makes the views keep what is asked for besides the elements to come, as for work that is left of
   * earlier ones.
   *
   * @param firstMainEnd the least end, in millis, of a main window that may be asked for
   */
  void addConsumer(LongSupplier firstMainEnd) {
    views.values().forEach(view -> view.addConsumer(firstMainEnd));
  }

  /** Once a window is ready, it stays so for the epoch. */
  State state(BoundedWindow mainWindow) {
    boolean ready = true;
    for (Mapped view : mapped) {
      BoundedWindow window = view.mapping().getSideInputWindow(mainWindow);
      if (view.readable().isCollected(window)) {
        checkExpired(mainWindow, window, view);
        return State.COLLECTED;
      }
      ready &= view.readable().isReady(window);
    }
    return ready ? State.READY : State.NOT_READY;
  }

  @Override
  @SuppressWarnings("unchecked") // made by the view's own ViewFn
  public <T> T get(PCollectionView<T> view, BoundedWindow window) {
    ReadableView readable = views.get(view);
    if (readable == null) {
      throw new IllegalArgumentException(
          step.fullName() + " reads " + view + ", which it was not given as a side input");
    }
    return (T) readable.get(window);
  }

  @Override
  public <T> boolean contains(PCollectionView<T> view) {
    return views.containsKey(view);
  }

  @Override
  public boolean isEmpty() {
    return views.isEmpty();
  }

  private void checkExpired(BoundedWindow mainWindow, BoundedWindow window, Mapped view) {
    long gc =
        LateDataUtils.garbageCollectionTime(
                mainWindow, step.windowingStrategy().getAllowedLateness())
            .getMillis();
    if (gc >= clock.inputWatermark()) {
      throw new IllegalStateException(
          String.format(
              "%s: window %s maps to window %s of %s, which no longer exists, by %s, whose maximum"
                  + " lookback is %s. Give the WindowMappingFn the lookback that it needs.",
              step.fullName(),
              mainWindow,
              window,
              view.readable().fullName(),
              view.mapping().getClass().getName(),
              view.mapping().maximumLookback()));
    }
  }

  private long latenessMillis() {
    return step.windowingStrategy().getAllowedLateness().getMillis();
  }

  /** {@code time - duration}, or the least number there is. */
  static long minus(long time, long duration) {
    long difference = time - duration;
    return difference > time ? Long.MIN_VALUE : difference;
  }
}
