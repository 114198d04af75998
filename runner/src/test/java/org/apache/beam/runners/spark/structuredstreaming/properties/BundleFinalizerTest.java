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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.apache.beam.runners.spark.structuredstreaming.testing.OneTimeFaults;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.io.range.OffsetRange;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a DoFn wants done when its bundle is committed. */
class BundleFinalizerTest {
  /** A task that fails is tried once more; when that fails, too, the query is started again. */
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2,2]");

  private static final Map<String, Queue<String>> CALLED = new ConcurrentHashMap<>();
  private static final Map<String, Queue<String>> VIOLATIONS = new ConcurrentHashMap<>();

  @TempDir Path directory;

  /** Asks to be called for every element: for the first in vain, as it is too late by then. */
  static final class FinalizerFn extends DoFn<String, String> {
    private final String test;
    private final String commits;

    FinalizerFn(String test, Path commits) {
      this.test = test;
      this.commits = commits.toString();
    }

    @ProcessElement
    public void process(
        @Element String element, BundleFinalizer finalizer, OutputReceiver<String> out) {
      String name = test;
      Path committed = Path.of(commits, Long.toString(Recorder.currentEpoch()));
      Duration expiry =
          element.equals("a") ? Duration.standardHours(-1) : Duration.standardHours(1);
      finalizer.afterBundleCommit(
          Instant.now().plus(expiry),
          () -> {
            CALLED.get(name).add(element);
            if (!Files.exists(committed)) {
              VIOLATIONS.get(name).add(element + " before " + committed);
            }
            if (element.equals("c")) {
              throw new IllegalStateException("the callback of " + element);
            }
          });
      out.output(element);
    }
  }

  private static Read.Unbounded<String> letters(String name) {
    return Script.read(
        name,
        Script.split().at(1, "a").at(1, "b").epoch().at(2, "c").epoch().at(3, "d").epoch().end());
  }

  /** Asks to be called wherever a bundle may, and gives an element at the end of a bundle. */
  @DoFn.BoundedPerElement
  static final class SplittableFn extends DoFn<String, String> {
    private final String test;
    private final String commits;

    SplittableFn(String test, Path commits) {
      this.test = test;
      this.commits = commits.toString();
    }

    @GetInitialRestriction
    public OffsetRange range() {
      return new OffsetRange(0, 1);
    }

    @StartBundle
    public void start(BundleFinalizer finalizer) {
      ask(finalizer, "start");
    }

    @ProcessElement
    public void process(
        @Element String element,
        RestrictionTracker<OffsetRange, Long> tracker,
        BundleFinalizer finalizer,
        OutputReceiver<String> out) {
      if (tracker.tryClaim(0L)) {
        ask(finalizer, element);
        out.output(element);
      }
    }

    @FinishBundle
    public void finish(FinishBundleContext context, BundleFinalizer finalizer) {
      ask(finalizer, "finish");
      context.output("finish", Instant.ofEpochMilli(9), GlobalWindow.INSTANCE);
    }

    private void ask(BundleFinalizer finalizer, String what) {
      String name = test;
      Path committed = Path.of(commits, Long.toString(Recorder.currentEpoch()));
      finalizer.afterBundleCommit(
          Instant.now().plus(Duration.standardHours(1)),
          () -> {
            CALLED.get(name).add(what);
            if (!Files.exists(committed)) {
              VIOLATIONS.get(name).add(what + " before " + committed);
            }
          });
    }
  }

  private List<String> calledOf(String name, Set<String> failing, int attempts) {
    return calledOf(
        name, letters(name), commits -> new FinalizerFn(name, commits), failing, attempts);
  }

  /** What is called when the first attempts at each of the failing elements fail. */
  private List<String> calledOf(
      String name,
      Read.Unbounded<String> letters,
      Function<Path, DoFn<String, String>> finalizing,
      Set<String> failing,
      int attempts) {
    CALLED.put(name, new ConcurrentLinkedQueue<>());
    VIOLATIONS.put(name, new ConcurrentLinkedQueue<>());
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    Path checkpoint = directory.resolve("checkpoint");
    Recorder recorder = recorder();
    new RestartHarness(
            SPARK,
            checkpoint,
            pipeline -> {
              PCollection<String> output =
                  pipeline
                      .apply(letters)
                      .apply(ParDo.of(finalizing.apply(checkpoint.resolve("commits"))))
                      .apply(faults.on("first", attempts > 0 ? failing : Set.of()))
                      .apply(faults.on("second", attempts > 1 ? failing : Set.of()))
                      .apply(recorder.as("output"));
              // Its tasks start when those of the bundles have ended, and before the epoch is committed.
              output.apply(Reshuffle.viaRandomKey());
            },
            "--maxRestarts=" + (attempts > 1 ? failing.size() : 0))
        .runToTheEnd();
    assertThat(
        faults.happened("first") + faults.happened("second"), is(attempts * failing.size()));
    assertThat(VIOLATIONS.get(name), empty());
    return List.copyOf(CALLED.get(name));
  }

  @Test
  void callbacksRunOnceEachInTheOrderOfTheEpochsWhenTheseAreCommitted() {
    assertThat(calledOf("finalized-bundles", Set.of(), 0), is(List.of("b", "c", "d")));
  }

  /** With one failure the query goes on, with two it does not. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void attemptsThatFailedHaveNoCallback(int attempts) {
    assertThat(
        calledOf("finalized-retried-" + attempts, Set.of("b", "c", "d"), attempts),
        is(List.of("b", "c", "d")));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aSplittableDoFnIsCalledBackForStartElementsAndEndOfABundle(int attempts) {
    String name = "finalized-splittable-" + attempts;
    Read.Unbounded<String> letters =
        Script.read(name, Script.split().at(1, "a").epoch().at(2, "b").epoch().end());
    List<String> called =
        calledOf(name, letters, commits -> new SplittableFn(name, commits), Set.of("b"), attempts);
    assertThat(called, is(List.of("start", "a", "finish", "start", "b", "finish")));
    assertThat(
        recorder().seen("output").stream()
            .map(recorded -> recorded.value() + "@" + recorded.timestampMillis())
            .toList(),
        is(List.of("a@1000", "finish@9", "b@2000", "finish@9")));
  }

  private Recorder recorder() {
    return new Recorder(directory.resolve("records"));
  }
}
