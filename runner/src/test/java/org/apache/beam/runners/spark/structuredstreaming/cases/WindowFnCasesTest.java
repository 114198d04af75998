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
package org.apache.beam.runners.spark.structuredstreaming.cases;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.CalendarWindows;
import org.apache.beam.sdk.transforms.windowing.IncompatibleWindowException;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.NonMergingWindowFn;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.transforms.windowing.WindowMappingFn;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Window functions and windows that the runner has never heard of. */
class WindowFnCasesTest extends PipelineCase {
  /** The elements of one letter in one minute; encoded by letter and minute. */
  private static final class LetterWindow extends BoundedWindow {
    private static final long MINUTE = 60_000;
    private final char letter;
    private final long minute;

    LetterWindow(char letter, long minute) {
      this.letter = letter;
      this.minute = minute;
    }

    @Override
    public Instant maxTimestamp() {
      return Instant.ofEpochMilli((minute + 1) * MINUTE - 1);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof LetterWindow window && window.letter == letter && window.minute == minute;
    }

    @Override
    public int hashCode() {
      return Long.hashCode(minute) * 31 + letter;
    }
  }

  private static final class LetterWindowCoder extends CustomCoder<LetterWindow> {
    @Override
    public void encode(LetterWindow window, OutputStream out) throws IOException {
      out.write(window.letter);
      VarLongCoder.of().encode(window.minute, out);
    }

    @Override
    public LetterWindow decode(InputStream in) throws IOException {
      char letter = (char) in.read();
      return new LetterWindow(letter, VarLongCoder.of().decode(in));
    }

    @Override
    public void verifyDeterministic() {}
  }

  /** Puts an element into the window of each of its letters. */
  private static final class LetterWindows extends NonMergingWindowFn<String, LetterWindow> {
    @Override
    public Collection<LetterWindow> assignWindows(AssignContext context) {
      long minute = Math.floorDiv(context.timestamp().getMillis(), LetterWindow.MINUTE);
      return context
          .element()
          .chars()
          .mapToObj(letter -> new LetterWindow((char) letter, minute))
          .toList();
    }

    @Override
    @SuppressWarnings("deprecation") // every WindowFn has to have it nevertheless
    public boolean isCompatible(WindowFn<?, ?> other) {
      return other instanceof LetterWindows;
    }

    @Override
    public void verifyCompatibility(WindowFn<?, ?> other) throws IncompatibleWindowException {
      if (!isCompatible(other)) {
        throw new IncompatibleWindowException(other, "Only letters go with letters.");
      }
    }

    @Override
    public Coder<LetterWindow> windowCoder() {
      return new LetterWindowCoder();
    }

    @Override
    public WindowMappingFn<LetterWindow> getDefaultWindowMappingFn() {
      throw new UnsupportedOperationException("No side inputs by letter.");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void windowsOfTheirOwnClassWithTheSameEndAreKeptApart(boolean byWindow) {
    Window<String> windows = Window.into(new LetterWindows());
    run(
        p ->
            p.apply(
                    Script.read(
                        "letters-" + byWindow,
                        Script.split()
                            .at(1, "ab").at(2, "b").epoch()
                            .at(3, "ac").at(61, "a").watermark(70).epoch()
                            .end()))
                .apply(byWindow ? windows : withoutLifting(windows))
                .apply(keyed())
                .apply(GroupByKey.create())
                .apply(recorder.as("panes")));
    assertThat(
        panes("panes", pane -> pane.value() + " to " + pane.window()),
        contains(
            "k=[ab, ac] to 59999",
            "k=[ab, b] to 59999",
            "k=[ac] to 59999",
            "k=[a] to 119999"));
  }

  private static double seconds(int year, int month, int day) {
    return LocalDate.of(year, month, day).atStartOfDay(ZoneOffset.UTC).toEpochSecond();
  }

  @Test
  void calendarWindowsEndWithTheirMonth() {
    run(
        p ->
            p.apply(
                    Script.read(
                        "calendar",
                        Script.split()
                            .at(seconds(2024, 2, 1), "first").at(seconds(2024, 2, 29), "leap").epoch()
                            .at(seconds(2024, 3, 1), "next").watermark(seconds(2024, 3, 1)).epoch()
                            .end()))
                .apply(Window.into(CalendarWindows.months(1)))
                .apply(keyed())
                .apply(GroupByKey.create())
                .apply(recorder.as("panes")));
    assertThat(
        panes("panes", pane -> pane.value() + " to " + Instant.ofEpochMilli(pane.window())),
        contains(
            "k=[first, leap] to 2024-02-29T23:59:59.999Z", "k=[next] to 2024-03-31T23:59:59.999Z"));
  }

  /** Gives every element 10 seconds and joins the windows of a minute, however far apart they are. */
  private static final class OneWindowAMinute extends WindowFn<String, IntervalWindow> {
    @Override
    public Collection<IntervalWindow> assignWindows(AssignContext context) {
      Instant start = context.timestamp();
      return List.of(new IntervalWindow(start, start.plus(10_000L)));
    }

    @Override
    public void mergeWindows(MergeContext context) throws Exception {
      TreeMap<Long, List<IntervalWindow>> ofMinutes = new TreeMap<>();
      for (IntervalWindow window : context.windows()) {
        ofMinutes
            .computeIfAbsent(window.start().getMillis() / 60_000, minute -> new ArrayList<>())
            .add(window);
      }
      for (List<IntervalWindow> windows : ofMinutes.values()) {
        if (windows.size() > 1) {
          IntervalWindow all = windows.get(0);
          for (IntervalWindow window : windows) {
            all = all.span(window);
          }
          context.merge(windows, all);
        }
      }
    }

    @Override
    @SuppressWarnings("deprecation") // every WindowFn has to have it nevertheless
    public boolean isCompatible(WindowFn<?, ?> other) {
      return other instanceof OneWindowAMinute;
    }

    @Override
    public Coder<IntervalWindow> windowCoder() {
      return IntervalWindow.getCoder();
    }

    @Override
    public WindowMappingFn<IntervalWindow> getDefaultWindowMappingFn() {
      throw new UnsupportedOperationException("No side inputs by merged windows.");
    }
  }

  private static Script twoMinutes() {
    return Script.split()
        .at(1, "a").at(70, "d").epoch()
        .at(40, "b").epoch()
        .at(20, "c").epoch()
        .end();
  }

  @Test
  void windowsMergeAsTheirFunctionSaysAndNotByOverlap() {
    run(
        p ->
            p.apply(Script.read("merging", twoMinutes()))
                .apply(Window.into(new OneWindowAMinute()))
                .apply(keyed())
                .apply(GroupByKey.create())
                .apply(recorder.as("panes")));
    assertThat(
        panes("panes", pane -> pane.value() + " to " + pane.window()),
        contains("k=[a, b, c] to 49999", "k=[d] to 79999"));
  }

  @Test
  void accumulatorsOfMergedWindowsAreMerged() {
    run(
        p ->
            p.apply(Script.read("merging-counts", twoMinutes()))
                .apply(Window.into(new OneWindowAMinute()))
                .apply(keyed())
                .apply(Count.perKey())
                .apply(recorder.as("panes")));
    assertThat(
        panes("panes", pane -> pane.value() + " to " + pane.window()),
        contains("k=3 to 49999", "k=1 to 79999"));
  }
}
