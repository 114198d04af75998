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
import org.apache.beam.runners.spark.structuredstreaming.testing.OneTimeFaults;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What a DoFn wants done when its bundle is committed. */
class BundleFinalizerTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

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

  private List<String> calledOf(String name, Set<String> failing, int restarts) {
    CALLED.put(name, new ConcurrentLinkedQueue<>());
    VIOLATIONS.put(name, new ConcurrentLinkedQueue<>());
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    Path checkpoint = directory.resolve("checkpoint");
    new RestartHarness(
            SPARK,
            checkpoint,
            pipeline ->
                pipeline
                    .apply(letters(name))
                    .apply(ParDo.of(new FinalizerFn(name, checkpoint.resolve("commits"))))
                    .apply(faults.on("fault", failing)),
            "--maxRestarts=" + restarts)
        .runToTheEnd();
    assertThat(faults.happened("fault"), is(failing.size()));
    assertThat(VIOLATIONS.get(name), empty());
    return List.copyOf(CALLED.get(name));
  }

  @Test
  void callbacksRunOnceEachInTheOrderOfTheEpochsWhenTheseAreCommitted() {
    assertThat(calledOf("finalized-bundles", Set.of(), 0), is(List.of("b", "c", "d")));
  }

  @Test
  void attemptsThatFailedHaveNoCallback() {
    assertThat(
        calledOf("finalized-retried", Set.of("b", "c", "d"), 5), is(List.of("b", "c", "d")));
  }
}
