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

import java.util.Collection;
import org.apache.beam.runners.spark.structuredstreaming.translation.AssignWindowsStep;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.PartitioningWindowFn;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues;
import org.joda.time.Instant;

/**
 * Gives elements the windows of a WindowFn. An element in several windows is assigned anew from
 * each of them, as the model says.
 */
final class AssignWindowsRunner implements ElementReceiver {
  private final AssignWindowsStep step;
  private final WindowFn<Object, BoundedWindow> windowFn;
  private final PartitioningWindowFn<Object, ?> partitioning;
  private final boolean fixed;
  private final ElementReceiver next;
  private BoundedWindow lastFixed;
  private long lastStart;
  private long lastEnd;

  @SuppressWarnings("unchecked") // elements and windows are untyped between steps
  AssignWindowsRunner(AssignWindowsStep step, ElementReceiver next) {
    this.step = step;
    this.windowFn = (WindowFn<Object, BoundedWindow>) step.windowFn();
    this.partitioning =
        step.windowFn() instanceof PartitioningWindowFn
            ? (PartitioningWindowFn<Object, ?>) step.windowFn()
            : null;
    this.fixed = step.windowFn() instanceof FixedWindows;
    this.next = next;
  }

  @Override
  public void accept(WindowedValue<Object> element) {
    if (element.getWindows().size() == 1) {
      assign(element);
    } else {
      for (WindowedValue<Object> inOneWindow : element.explodeWindows()) {
        assign(inOneWindow);
      }
    }
  }

  private void assign(WindowedValue<Object> element) {
    WindowedValue<Object> assigned;
    try {
      assigned = partitioning == null ? inAnyWindows(element) : inOneWindow(element);
    } catch (Exception e) {
      throw new StepFailedException(step.fullName(), "assigning windows with " + windowFn, e);
    }
    if (assigned != null) {
      next.accept(assigned);
    }
  }

  private WindowedValue<Object> inOneWindow(WindowedValue<Object> element) {
    Instant timestamp = element.getTimestamp();
    return WindowedValues.of(
        element.getValue(),
        timestamp,
        fixed ? fixedWindow(timestamp) : partitioning.assignWindow(timestamp),
        element.getPaneInfo());
  }

  /** One shared object for a run of elements of the same window. */
  private BoundedWindow fixedWindow(Instant timestamp) {
    long millis = timestamp.getMillis();
    if (millis < lastStart || millis >= lastEnd) {
      IntervalWindow window = (IntervalWindow) partitioning.assignWindow(timestamp);
      lastStart = window.start().getMillis();
      lastEnd = window.end().getMillis();
      lastFixed = window;
    }
    return lastFixed;
  }

  /** Null where the WindowFn assigns no window, which drops the element. */
  private WindowedValue<Object> inAnyWindows(WindowedValue<Object> element) throws Exception {
    Collection<BoundedWindow> windows = assignAny(element);
    return windows.isEmpty()
        ? null
        : WindowedValues.of(
            element.getValue(), element.getTimestamp(), windows, element.getPaneInfo());
  }

  private Collection<BoundedWindow> assignAny(WindowedValue<Object> element) throws Exception {
    return windowFn.assignWindows(
        windowFn.new AssignContext() {
          @Override
          public Object element() {
            return element.getValue();
          }

          @Override
          public Instant timestamp() {
            return element.getTimestamp();
          }

          @Override
          public BoundedWindow window() {
            return element.getWindows().iterator().next();
          }
        });
  }
}
