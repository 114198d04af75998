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
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;
import static org.hamcrest.Matchers.sameInstance;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepSideInputs.State;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;

/** How a view is kept, and how elements wait for it. */
class SideInputsTest {
  private final ViewBench bench = new ViewBench(Duration.ZERO);

  private List<String> view(long windowStart) {
    List<String> elements = new ArrayList<>();
    bench.sideInputs.get(bench.view, ViewBench.window(windowStart)).forEach(elements::add);
    return elements;
  }

  @Test
  void windowIsReadyWithItsFirstPane() throws Exception {
    assertThat(bench.element("m", 2), is(State.NOT_READY));
    bench.pane(0, 0, "a", "b");
    bench.endEpoch(0, 3);

    assertThat(bench.processed, contains("m [a, b]"));
    assertThat(bench.element("n", 4), is(State.READY));
    assertThat(bench.element("other window", 14), is(State.NOT_READY));
  }

  @Test
  void windowWithoutPaneIsReadyAndEmptyWhenTheViewHasPassedIt() throws Exception {
    bench.element("m", 2);
    bench.endEpoch(9, 3);
    assertThat(bench.processed, empty());
    bench.endEpoch(10, 3);

    assertThat(bench.processed, contains("m []"));
  }

  @Test
  void readingWindowThatIsNotReadyFails() {
    assertThat(
        assertThrows(IllegalStateException.class, () -> view(0)).getMessage(),
        containsString("View (level 1): read in window [1970-01-01T00:00:00.000Z"));
  }

  @Test
  void paneReplacesThePaneBeforeAndNeverAddsToIt() throws Exception {
    bench.pane(0, 0, "a");
    bench.pane(0, 1, "b", "c");
    assertThat(view(0), contains("b", "c"));
    bench.endEpoch(0, 0);
    int rowsOfOnePane = bench.rows.size();

    bench.pane(0, 2, "d");
    assertThat(view(0), contains("d"));
    bench.endEpoch(0, 0);

    assertThat(view(0), contains("d"));
    assertThat(bench.rows.size(), is(rowsOfOnePane));
  }

  @Test
  void paneWithLowerIndexIsIgnored() throws Exception {
    bench.pane(0, 3, "new");
    bench.endEpoch(0, 0);
    int rows = bench.rows.size();
    bench.pane(0, 2, "old", "older");
    bench.endEpoch(0, 0);

    assertThat(view(0), contains("new"));
    assertThat(bench.rows.size(), is(rows));
  }

  @Test
  void emptyPaneIsAPane() throws Exception {
    bench.element("m", 2);
    bench.pane(0, 0);
    bench.endEpoch(0, 0);

    assertThat(bench.processed, contains("m []"));
  }

  @Test
  void largePaneComesInChunksAndIsReadWhole() throws Exception {
    String element = "x".repeat(100_000);
    List<String> elements = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      elements.add(element + i);
    }
    bench.pane(0, 0, elements);
    bench.endEpoch(0, 0);

    assertThat(bench.rows.size(), greaterThan(elements.size()));
    // More than is kept decoded: each pass decodes anew.
    assertThat(view(0), is(elements));
    assertThat(view(0), is(elements));

    bench.pane(0, 1, "small");
    bench.endEpoch(0, 0);
    assertThat(view(0), contains("small"));
    assertThat(bench.rows.size(), lessThan(20));
  }

  @Test
  void viewIsMadeOnceForAllEpochsUntilItChanges() throws Exception {
    bench.pane(0, 0, "a");
    Iterable<String> first = bench.sideInputs.get(bench.view, ViewBench.window(0));
    bench.endEpoch(0, 0);
    assertThat(bench.sideInputs.get(bench.view, ViewBench.window(0)), sameInstance(first));

    // The same content sent anew is another pane: nothing compares contents.
    bench.pane(0, 1, "a");
    assertThat(
        bench.sideInputs.get(bench.view, ViewBench.window(0)) == first, is(false));
  }

  @Test
  void elementsOfAWindowKeepTheirOrderOverEpochs() throws Exception {
    bench.element("1", 5);
    bench.endEpoch(0, 0);
    bench.element("2", 4);
    bench.pane(0, 0, "a");
    // The window is ready, but not before those that wait have been processed.
    assertThat(bench.element("3", 3), is(State.NOT_READY));
    bench.endEpoch(0, 0);
    bench.element("4", 2);

    assertThat(bench.processed, contains("1 [a]", "2 [a]", "3 [a]", "4 [a]"));
  }

  @Test
  void windowsAreReleasedInTheOrderOfTheirEnds() throws Exception {
    bench.element("late window", 25);
    bench.element("early window", 5);
    bench.element("middle window", 15);
    bench.endEpoch(0, 0);
    bench.endEpoch(30, 0);

    assertThat(
        bench.processed, contains("early window []", "middle window []", "late window []"));
  }

  @Test
  void waitingElementHoldsTheInputWatermark() throws Exception {
    bench.element("m", 12);
    bench.element("n", 14);
    bench.endEpoch(5, 30);
    assertThat(bench.inputSeconds(), is(12L));
    bench.endEpoch(5, 40);
    assertThat(bench.inputSeconds(), is(12L));
    bench.endEpoch(20, 40);

    assertThat(bench.processed, contains("m []", "n []"));
    assertThat(bench.inputSeconds(), is(40L));
  }

  @Test
  void elementBeyondTheEndOfItsWindowHoldsAtThatEnd() throws Exception {
    bench.element("m", 25, 10);
    bench.endEpoch(5, 30);

    assertThat(bench.inputSeconds(), is(19L));
  }

  @Test
  void manyWaitingElementsGoToRowsAndComeBackInOrder() throws Exception {
    String padding = "x".repeat(40_000);
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      bench.element(i + padding, 3);
      expected.add(i + padding + " [a]");
    }
    // They are more than may stay in memory.
    assertThat(bench.rows.size(), greaterThan(100));
    bench.endEpoch(0, 0);
    bench.pane(0, 0, "a");
    bench.endEpoch(0, 0);

    assertThat(bench.processed.equals(expected), is(true));
  }

  @Test
  void nothingIsWrittenForElementsReleasedInTheEpochTheyCame() throws Exception {
    bench.pane(0, 0, "a");
    bench.endEpoch(0, 0);
    int rows = bench.rows.size();
    bench.element("m", 13);
    bench.pane(10, 0, "b");
    bench.endEpoch(0, 0);
    bench.pane(10, 1, "b");
    bench.endEpoch(0, 0);

    assertThat(bench.processed, contains("m [b]"));
    // A window and a chunk; perhaps the index of ends.
    assertThat(bench.rows.size() - rows, lessThan(5));
  }

  @Test
  void windowIsCollectedWhenEveryMainWindowThatReadsItHasExpired() throws Exception {
    bench.pane(0, 0, "a");
    bench.pane(10, 0, "b");
    bench.endEpoch(20, 9);
    assertThat(view(0), contains("a"));
    bench.endEpoch(20, 10);
    int rows = bench.rows.size();

    assertThat(bench.element("too late", 5), is(State.COLLECTED));
    assertThat(view(10), contains("b"));
    bench.endEpoch(20, 30);
    assertThat(bench.rows.size(), lessThan(rows));
    // Watermarks of both, what was collected, and the totals that count it.
    assertThat(bench.rows.size(), is(4));
  }

  @Test
  void lateElementsOfTheMainInputStillReadTheirWindow() throws Exception {
    ViewBench lenient = new ViewBench(Duration.standardSeconds(20));
    lenient.pane(0, 0, "a");
    lenient.endEpoch(20, 29);
    assertThat(lenient.element("late", 5), is(State.READY));
    lenient.endEpoch(20, 30);

    assertThat(lenient.element("too late", 5), is(State.COLLECTED));
    assertThat(lenient.processed, contains("late [a]"));
  }

  @Test
  void paneOfACollectedWindowIsIgnored() throws Exception {
    bench.pane(0, 0, "a");
    bench.endEpoch(10, 10);
    int rows = bench.rows.size();
    bench.pane(0, 1, "b");
    bench.endEpoch(10, 10);

    assertThat(bench.rows.size(), is(rows));
  }

  @Test
  void tooLateElementThatWaitedIsDroppedWhenItsWindowIsCollected() throws Exception {
    bench.endEpoch(0, 30);
    assertThat(bench.element("late", 15), is(State.NOT_READY));
    // With this window that of the element is collected, though its view is not ready.
    bench.pane(20, 0, "c");
    bench.endEpoch(0, 30);
    bench.endEpoch(0, 30);

    assertThat(bench.dropped, contains("late"));
  }
}
