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
package org.apache.beam.runners.spark.structuredstreaming.restarts;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo.Timing;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PBegin;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;

/**
 * A row of the table: a pipeline that has the same output in the same epochs whether it is stopped
 * in between or not. Nothing in it goes by the wall's clock.
 *
 * @param expected the output, sorted, each element as {@link #text} says
 */
record RestartedPipeline(String name, Build build, List<String> expected, List<String> options) {
  private static final long END_OF_GLOBAL_WINDOW = GlobalWindow.INSTANCE.maxTimestamp().getMillis();

  /** Builds the pipeline and returns its output. */
  @FunctionalInterface
  interface Build {
    PCollection<?> output(Pipeline pipeline);
  }

  static RestartedPipeline of(String name, Build build, String... expected) {
    return new RestartedPipeline(
        name, build, Arrays.stream(expected).sorted().toList(), List.of());
  }

  /** The same with further options. */
  RestartedPipeline with(String... more) {
    return new RestartedPipeline(name, build, expected, List.of(more));
  }

  /** Reads what a script of {@code key:value} gives. */
  static PTransform<PBegin, PCollection<KV<String, String>>> read(String name, Script... splits) {
    return new PTransform<>("Input") {
      @Override
      public PCollection<KV<String, String>> expand(PBegin begin) {
        return begin.apply(Script.read(name, splits)).apply(pairs());
      }
    };
  }

  /** Reads what a stream of {@code key:value} gives. */
  static PTransform<PBegin, PCollection<KV<String, String>>> read(Events events) {
    return new PTransform<>("Input") {
      @Override
      public PCollection<KV<String, String>> expand(PBegin begin) {
        return begin.apply(events.end()).apply(pairs());
      }
    };
  }

  private static MapElements<String, KV<String, String>> pairs() {
    return MapElements.into(
            TypeDescriptors.kvs(TypeDescriptors.strings(), TypeDescriptors.strings()))
        .via(
            (String text) ->
                KV.of(text.substring(0, text.indexOf(':')), text.substring(text.indexOf(':') + 1)));
  }

  /**
   * {@code value @ timestamp [start, end of window] timing index/non-speculative index last}, in
   * seconds, without a window that is the global one and without a pane that none has made.
   */
  static String text(Recorded recorded) {
    StringBuilder text = new StringBuilder(recorded.value());
    text.append(" @").append(seconds(recorded.timestampMillis()));
    if (recorded.window() != END_OF_GLOBAL_WINDOW) {
      text.append(" [").append(seconds(recorded.windowStart()));
      text.append(", ").append(seconds(recorded.window() + 1)).append(')');
    }
    if (recorded.timing() != Timing.UNKNOWN) {
      text.append(' ').append(recorded.timing());
      text.append(' ').append(recorded.paneIndex());
      text.append('/').append(recorded.nonSpeculativeIndex());
      text.append(recorded.last() ? " last" : "");
    }
    return text.toString();
  }

  private static String seconds(long millis) {
    if (millis == BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis()) {
      return "beginning";
    }
    if (millis == END_OF_GLOBAL_WINDOW) {
      return "end";
    }
    return BigDecimal.valueOf(millis, 3).stripTrailingZeros().toPlainString();
  }

  @Override
  public String toString() {
    return name;
  }
}
