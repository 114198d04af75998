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
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;

import java.nio.file.Path;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.testing.CountingStateStoreProvider;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.values.PCollection;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An epoch costs what its own keys and windows cost, however many others exist. Measured in rows of
 * the state store, which are exact, and not in time.
 */
class EpochCostTest {
  @RegisterExtension
  static final TestSpark SPARK =
      TestSpark.on("local[2]")
          .with(
              "spark.sql.streaming.stateStore.providerClass",
              CountingStateStoreProvider.class.getName());

  private static final int TOUCHED = 100;

  @TempDir Path directory;

  /** State rows that an epoch reads and writes. */
  private record Cost(long rowsRead, long rowsWritten) {
    static Cost of(long epoch) {
      return new Cost(
          CountingStateStoreProvider.read().getOrDefault(epoch, 0L),
          CountingStateStoreProvider.written().getOrDefault(epoch, 0L));
    }
  }

  /**
   * Makes {@code keys} keys live in a window that stays open, then touches 100 of them, then has an
   * epoch without elements, then one that closes another window of 100 keys.
   *
   * @return what the last three epochs cost
   */
  private List<Cost> costs(PanePath path, int keys) {
    Path own = directory.resolve(Integer.toString(keys));
    Recorder recorder = new Recorder(own.resolve("recorder"));
    CountingStateStoreProvider.reset();
    RestartHarness harness =
        new RestartHarness(
            SPARK,
            own.resolve("checkpoint"),
            p -> {
              PCollection<String> read =
                  p.apply(
                      Script.read(
                          "cost-" + path + keys,
                          Script.split()
                              .burst(2000, "k", keys).burst(1, "short", TOUCHED).watermark(2).epoch()
                              .burst(2001, "k", TOUCHED).watermark(3).epoch()
                              .watermark(4).epoch()
                              .watermark(1500).epoch()
                              .at(1600, "marker").idle()));
              read.apply("markers", Filter.by(value -> value.equals("marker")))
                  .apply(recorder.as("marker"));
              read.apply(path.fixedWindows(1000, 0, false))
                  .apply(Count.perElement())
                  .apply(Filter.by(count -> count.getKey().startsWith("short")))
                  .apply(recorder.as("closed"));
            });
    harness.runUntil(
        "the epoch of the marker", result -> !recorder.seen("marker").isEmpty());
    assertThat(recorder.seen("closed").size(), is(TOUCHED));
    return List.of(Cost.of(1), Cost.of(2), Cost.of(3));
  }

  @ParameterizedTest
  @EnumSource(PanePath.class)
  void anEpochReadsAndWritesTheRowsOfItsOwnKeys(PanePath path) {
    List<Cost> few = costs(path, 2_000);
    List<Cost> many = costs(path, 20_000);

    Cost touched = few.get(0);
    assertThat(touched.rowsWritten(), greaterThanOrEqualTo((long) TOUCHED));
    Cost closing = few.get(2);
    assertThat(closing.rowsRead(), allOf(greaterThanOrEqualTo((long) TOUCHED), lessThan(1_000L)));
    assertThat(many, is(few));
  }
}
