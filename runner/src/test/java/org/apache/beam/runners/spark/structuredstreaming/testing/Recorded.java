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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.util.List;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.PaneInfo.Timing;
import org.joda.time.Instant;

/**
 * An element as a {@link Recorder} saw it.
 *
 * @param epoch the epoch it was processed in
 * @param value see {@link Recorder#text}
 * @param windowStart beginning of its window in milliseconds, {@link Long#MIN_VALUE} if it has none
 * @param window end of its window in milliseconds, inclusive
 */
public record Recorded(
    long epoch,
    String value,
    long timestampMillis,
    long windowStart,
    long window,
    Timing timing,
    long paneIndex,
    long nonSpeculativeIndex,
    boolean last) {
  private static final String SEPARATOR = "\t";

  static Recorded of(
      long epoch, Object value, Instant timestamp, BoundedWindow window, PaneInfo pane) {
    return new Recorded(
        epoch,
        Recorder.text(value),
        timestamp.getMillis(),
        window instanceof IntervalWindow interval ? interval.start().getMillis() : Long.MIN_VALUE,
        window.maxTimestamp().getMillis(),
        pane.getTiming(),
        pane.getIndex(),
        pane.getNonSpeculativeIndex(),
        pane.isLast());
  }

  /** The same in epoch 0: what is equal to that of another run, in whichever epochs they have it. */
  public Recorded withoutEpoch() {
    return new Recorded(
        0, value, timestampMillis, windowStart, window, timing, paneIndex, nonSpeculativeIndex, last);
  }

  String encode() {
    return String.join(
        SEPARATOR,
        List.of(
            Long.toString(epoch),
            value,
            Long.toString(timestampMillis),
            Long.toString(windowStart),
            Long.toString(window),
            timing.name(),
            Long.toString(paneIndex),
            Long.toString(nonSpeculativeIndex),
            Boolean.toString(last)));
  }

  static Recorded decode(String line) {
    String[] parts = line.split(SEPARATOR, -1);
    return new Recorded(
        Long.parseLong(parts[0]),
        parts[1],
        Long.parseLong(parts[2]),
        Long.parseLong(parts[3]),
        Long.parseLong(parts[4]),
        Timing.valueOf(parts[5]),
        Long.parseLong(parts[6]),
        Long.parseLong(parts[7]),
        Boolean.parseBoolean(parts[8]));
  }
}
