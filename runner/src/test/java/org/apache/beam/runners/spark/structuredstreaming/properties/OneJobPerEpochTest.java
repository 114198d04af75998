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
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceTrace;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.SparkCounting;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.join.CoGbkResult;
import org.apache.beam.sdk.transforms.join.CoGroupByKey;
import org.apache.beam.sdk.transforms.join.KeyedPCollectionTuple;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TypeDescriptor;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.apache.spark.sql.execution.streaming.StreamingQueryWrapper;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** One query, one Spark job an epoch, one stage a level and one behind, whatever the graph's shape. */
class OneJobPerEpochTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  private static final TypeDescriptor<String> STRINGS = TypeDescriptors.strings();

  @TempDir Path directory;

  /**
   * Two sources, both read by two branches, three leaves at different depths: three levels. Level 2 is
   * the count over groups of level 1.
   */
  private static void buildDiamond(Pipeline pipeline, String name, Recorder recorder) {
    PCollection<String> left = pipeline.apply("left", Script.read(name + "-left", ten("l")));
    PCollection<String> right = pipeline.apply("right", Script.read(name + "-right", ten("r")));
    PCollection<String> both =
        PCollectionList.of(left)
            .and(right)
            .apply(Flatten.pCollections())
            .apply(Window.into(FixedWindows.of(Duration.standardSeconds(100))));
    both.apply(
            "upper", MapElements.into(STRINGS).via((String s) -> s.toUpperCase(Locale.ROOT)))
        .apply(recorder.as("leaf 0"));
    PCollection<KV<Integer, Iterable<String>>> groups =
        both.apply(WithKeys.of((String s) -> s.charAt(1) % 2).withKeyType(TypeDescriptors.integers()))
            .apply(GroupByKey.create());
    groups.apply(recorder.as("leaf 1"));
    groups
        .apply("sizes", MapElements.into(STRINGS).via(group -> "size " + size(group.getValue())))
        .apply(Count.perElement())
        .apply(recorder.as("leaf 2"));
  }

  private static Script ten(String prefix) {
    Script script = Script.split();
    for (int i = 0; i < 10; i++) {
      script.at(i, prefix + i);
      if (i % 4 == 3) {
        script.epoch();
      }
    }
    return script.watermark(9).epoch().end();
  }

  private static long size(Iterable<?> values) {
    long size = 0;
    for (Object ignored : values) {
      size++;
    }
    return size;
  }

  @Test
  void aDiamondOfTwoSourcesAndThreeLeavesIsOneJobOfOneStageALevelAndOneBehind() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    try (SparkCounting counting = SparkCounting.of(SPARK)) {
      RestartHarness.finish(
          new RestartHarness(
                  SPARK, directory.resolve("checkpoint"), p -> buildDiamond(p, "diamond", recorder))
              .start());

      Map<Long, SparkCounting.Epoch> epochs = counting.epochs();
      assertThat(epochs.size(), greaterThan(3));
      assertThat(epochs.values().stream().map(SparkCounting.Epoch::jobs).toList(), everyItem(is(1)));
      assertThat(
          epochs.values().stream().map(SparkCounting.Epoch::stages).toList(), everyItem(hasSize(4)));
      assertThat(counting.cachedRdds(), empty());
    }
    assertThat(recorder.seen("leaf 0"), hasSize(20));
    assertThat(recorder.all("leaf 0"), hasSize(20));
    assertThat(
        recorder.values("leaf 1"),
        contains(
            "0=[l0, l2, l4, l6, l8, r0, r2, r4, r6, r8]",
            "1=[l1, l3, l5, l7, l9, r1, r3, r5, r7, r9]"));
    assertThat(recorder.values("leaf 2"), contains("size 10=2"));
    for (String source : List.of("diamond-left", "diamond-right")) {
      SourceTrace trace = SourceTrace.of(source);
      assertThat(trace.pulled.get(), is(10));
      assertThat(trace.opened, hasSize(1));
      assertThat(trace.splitCalls.get(), is(1));
      assertThat(trace.violations, empty());
    }
  }

  @Test
  void aPipelineIsOneQueryAndNothingOfSparksOwnState() {
    var result =
        new RestartHarness(
                SPARK,
                directory.resolve("checkpoint"),
                p -> buildDiamond(p, "one-query", new Recorder(directory.resolve("recorder"))))
            .start();
    assertThat(SPARK.session().streams().active().length, is(1));
    RestartHarness.finish(result);
    StreamingQueryWrapper query = (StreamingQueryWrapper) result.query();
    assertThat(query.lastProgress().stateOperators().length, is(0));
  }

  /** apache/spark#38553, apache/spark#20598: one source that a plan uses several times. */
  @Test
  void aSourceUsedThreeTimesIsReadOnce() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    RestartHarness.finish(
        new RestartHarness(
                SPARK,
                directory.resolve("checkpoint"),
                p -> {
                  PCollection<String> read =
                      p.apply(Script.read("thrice", ten("v")))
                          .apply(Window.into(FixedWindows.of(Duration.standardSeconds(100))));
                  PCollectionList.of(read)
                      .and(read)
                      .and(read.apply(MapElements.into(STRINGS).via((String s) -> s)))
                      .apply(Flatten.pCollections())
                      .apply("one key", MapElements.into(STRINGS).via((String s) -> "all"))
                      .apply(Count.perElement())
                      .apply(recorder.as("count"));
                })
            .start());
    assertThat(recorder.values("count"), contains("all=30"));
    assertThat(SourceTrace.of("thrice").pulled.get(), is(10));
  }

  /** apache/spark#38553, apache/spark#20598: a self-join. */
  @Test
  void aSourceJoinedWithItselfIsReadOnce() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    TupleTag<String> one = new TupleTag<>("one");
    TupleTag<String> two = new TupleTag<>("two");
    RestartHarness.finish(
        new RestartHarness(
                SPARK,
                directory.resolve("checkpoint"),
                p -> {
                  PCollection<KV<String, String>> read =
                      p.apply(Script.read("joined", ten("v")))
                          .apply(Window.into(FixedWindows.of(Duration.standardSeconds(100))))
                          .apply(WithKeys.of((String s) -> s).withKeyType(STRINGS));
                  KeyedPCollectionTuple.of(one, read)
                      .and(two, read)
                      .apply(CoGroupByKey.create())
                      .apply(
                          MapElements.into(STRINGS)
                              .via((KV<String, CoGbkResult> joined) -> sides(joined, one, two)))
                      .apply(recorder.as("sides"));
                })
            .start());
    assertThat(
        recorder.values("sides"),
        is(IntStream.range(0, 10).mapToObj(i -> "v" + i + " 1 1").toList()));
    assertThat(SourceTrace.of("joined").pulled.get(), is(10));
  }

  private static String sides(
      KV<String, CoGbkResult> joined, TupleTag<String> one, TupleTag<String> two) {
    return joined.getKey()
        + " "
        + size(joined.getValue().getAll(one))
        + " "
        + size(joined.getValue().getAll(two));
  }
}
