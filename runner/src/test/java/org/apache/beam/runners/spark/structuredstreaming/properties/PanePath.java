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

import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.joda.time.Duration;

/** The two ways to panes: from windows alone, and through state and timers of every key. */
enum PanePath {
  /** The default trigger. */
  BY_WINDOW,
  /** A trigger that says the same in other words. */
  BY_TIMERS;

  /** Fixed windows that are grouped in this way. */
  Window<String> fixedWindows(long seconds, long latenessSeconds, boolean accumulating) {
    Window<String> windows =
        Window.<String>into(FixedWindows.of(Duration.standardSeconds(seconds)))
            .withAllowedLateness(Duration.standardSeconds(latenessSeconds));
    if (this == BY_TIMERS) {
      AfterWatermark.FromEndOfWindow onTime = AfterWatermark.pastEndOfWindow();
      windows =
          latenessSeconds == 0
              ? windows.triggering(onTime)
              : windows.triggering(onTime.withLateFirings(AfterPane.elementCountAtLeast(1)));
    }
    return accumulating ? windows.accumulatingFiredPanes() : windows.discardingFiredPanes();
  }
}
