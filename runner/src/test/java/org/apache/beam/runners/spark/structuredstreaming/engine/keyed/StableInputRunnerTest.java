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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepBench.Epoch;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.runners.spark.structuredstreaming.translation.StableInputStep;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;

/** When elements and watermarks leave a step that makes its input durable. */
class StableInputRunnerTest {
  private static final long BEGIN = BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis();
  private static final long END = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();

  private final StepBench bench =
      new StepBench(
          step(),
          (output, container, rows, time) ->
              new StableInputRunner(step(), output, container, rows, time));

  private static StableInputStep step() {
    WindowingStrategy<?, ?> windowing =
        WindowingStrategy.of(FixedWindows.of(Duration.standardSeconds(1)));
    return new StableInputStep(
        1,
        "ParDo/StableInput",
        1,
        false,
        new PlanCollection(0, "input", StringUtf8Coder.of(), windowing),
        new PlanCollection(1, "stable", StringUtf8Coder.of(), windowing));
  }

  private static WindowedValue<Object> element(String value, long millis) {
    Instant timestamp = Instant.ofEpochMilli(millis);
    return WindowedValues.of(
        value,
        timestamp,
        new IntervalWindow(Instant.ofEpochMilli(0), Instant.ofEpochMilli(1000)),
        PaneInfo.createPane(false, true, PaneInfo.Timing.LATE, 3, 2));
  }

  private Epoch run(long watermark, String... values) throws IOException {
    List<WindowedValue<Object>> elements = new ArrayList<>();
    for (String value : values) {
      elements.add(element(value, elements.size()));
    }
    return bench.run(0, watermark, elements);
  }

  @Test
  void elementsLeaveInTheNextEpochAsTheyCame() throws IOException {
    Epoch first = run(10, "a", "b");
    assertThat(first.output(), empty());
    assertThat(first.statistics().hasPending(), is(true));
    Epoch second = run(20, "c");
    assertThat(second.output(), is(List.of(element("a", 0), element("b", 1))));
    assertThat(second.statistics().hasPending(), is(true));
    Epoch third = run(20);
    assertThat(third.output(), is(List.of(element("c", 0))));
    assertThat(third.statistics().hasPending(), is(false));
    assertThat(run(20).output(), empty());
  }

  @Test
  void theWatermarkIsThatOfTheEpochBeforeWhileElementsAreKept() throws IOException {
    assertThat(run(10, "a").outputWatermark(), is(BEGIN));
    assertThat(run(20, "b").outputWatermark(), is(10L));
    assertThat(run(30).outputWatermark(), is(30L));
    assertThat(run(END, "c").outputWatermark(), is(30L));
    assertThat(run(END).outputWatermark(), is(END));
  }

  @Test
  void orderIsKeptOverManyChunks() throws IOException {
    String[] values =
        IntStream.range(0, 5000).mapToObj(i -> i + "-" + "x".repeat(100)).toArray(String[]::new);
    run(10, values);
    assertThat(run(10).values(), is(List.of((Object[]) values)));
  }

  @Test
  void nothingIsLeftBehind() throws IOException {
    run(10, "a");
    run(10, "b");
    run(10);
    // The row of the watermarks, which the totals leave out.
    assertThat(bench.rows(), is(1));
    run(10, "c");
    assertThat(run(10).values(), is(List.of("c")));
  }
}
