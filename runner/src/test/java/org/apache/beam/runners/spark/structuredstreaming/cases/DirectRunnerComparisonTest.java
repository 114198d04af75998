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
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.beam.runners.direct.DirectRunner;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.Distinct;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.FlatMapElements;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.Keys;
import org.apache.beam.sdk.transforms.KvSwap;
import org.apache.beam.sdk.transforms.Latest;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.Max;
import org.apache.beam.sdk.transforms.Mean;
import org.apache.beam.sdk.transforms.Min;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Partition;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.ToString;
import org.apache.beam.sdk.transforms.Top;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.join.CoGbkResult;
import org.apache.beam.sdk.transforms.join.CoGroupByKey;
import org.apache.beam.sdk.transforms.join.KeyedPCollectionTuple;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PDone;
import org.apache.beam.sdk.values.TimestampedValue;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The transforms of Beam's library over the same elements on the DirectRunner, as a stream on Spark
 * and as a batch on Spark: all of them as branches of one pipeline.
 */
class DirectRunnerComparisonTest extends PipelineCase {
  private static final TupleTag<Long> LEFT = new TupleTag<>() {};
  private static final TupleTag<Long> RIGHT = new TupleTag<>() {};
  private static final Map<String, Function<PCollection<KV<String, Long>>, PCollection<?>>> BRANCHES =
      branches();

  private static Map<String, Function<PCollection<KV<String, Long>>, PCollection<?>>> branches() {
    Map<String, Function<PCollection<KV<String, Long>>, PCollection<?>>> all = new LinkedHashMap<>();
    addElementwise(all);
    addCombining(all);
    addGrouping(all);
    return all;
  }

  private static void addElementwise(
      Map<String, Function<PCollection<KV<String, Long>>, PCollection<?>>> all) {
    all.put("Values", in -> in.apply(Values.create()));
    all.put("Keys", in -> in.apply(Keys.create()));
    all.put("KvSwap", in -> in.apply(KvSwap.create()));
    all.put("ToString.kvs", in -> in.apply(ToString.kvs()));
    all.put("ToString.elements", in -> in.apply(Values.create()).apply(ToString.elements()));
    all.put(
        "WithKeys",
        in ->
            in.apply(Values.create())
                .apply(WithKeys.of((Long n) -> n % 3).withKeyType(TypeDescriptors.longs())));
    all.put("Filter", in -> in.apply(Values.create()).apply(Filter.greaterThan(40L)));
    all.put(
        "Partition",
        in ->
            in.apply(Values.create())
                .apply(Partition.of(3, (Long n, int parts) -> (int) (n % parts)))
                .get(1));
    all.put(
        "FlatMapElements",
        in ->
            in.apply(
                FlatMapElements.into(TypeDescriptors.longs())
                    .via((KV<String, Long> pair) -> List.of(pair.getValue(), -pair.getValue()))));
    all.put(
        "Flatten.iterables",
        in -> in.apply(GroupByKey.create()).apply(Values.create()).apply(Flatten.iterables()));
  }

  private static void addCombining(
      Map<String, Function<PCollection<KV<String, Long>>, PCollection<?>>> all) {
    all.put("Count.perKey", in -> in.apply(Count.perKey()));
    all.put("Count.perElement", in -> in.apply(Keys.create()).apply(Count.perElement()));
    all.put("Count.globally", in -> in.apply(Count.globally()));
    all.put("Mean.perKey", in -> in.apply(Mean.perKey()));
    all.put("Mean.globally", in -> in.apply(Values.create()).apply(Mean.globally()));
    all.put("Sum.longsPerKey", in -> in.apply(Sum.longsPerKey()));
    all.put("Sum.longsGlobally", in -> in.apply(Values.create()).apply(Sum.longsGlobally()));
    all.put(
        "Sum of nothing",
        in ->
            in.apply(Values.create())
                .apply(Filter.greaterThan(1_000_000L))
                .apply(Sum.longsGlobally()));
    all.put("Max.longsPerKey", in -> in.apply(Max.longsPerKey()));
    all.put("Min.longsGlobally", in -> in.apply(Values.create()).apply(Min.longsGlobally()));
    all.put("Top.largestPerKey", in -> in.apply(Top.largestPerKey(3)));
    all.put("Top.smallest", in -> in.apply(Values.create()).apply(Top.smallest(4)));
    all.put("Latest.perKey", in -> in.apply(Latest.perKey()));
    all.put("Latest.globally", in -> in.apply(Values.create()).apply(Latest.globally()));
  }

  private static void addGrouping(
      Map<String, Function<PCollection<KV<String, Long>>, PCollection<?>>> all) {
    all.put("Distinct", in -> in.apply(Keys.create()).apply(Distinct.create()));
    all.put(
        "Distinct.withRepresentativeValueFn",
        in ->
            in.apply(
                    Distinct.<KV<String, Long>, String>withRepresentativeValueFn(KV::getKey)
                        .withRepresentativeType(TypeDescriptors.strings()))
                .apply(
                    MapElements.into(TypeDescriptors.strings())
                        .via((KV<String, Long> pair) -> pair.getKey())));
    all.put("GroupByKey", in -> in.apply(GroupByKey.create()));
    all.put(
        "GroupByKey in sliding windows",
        in ->
            in.apply(
                    Window.into(
                        SlidingWindows.of(Duration.standardSeconds(30))
                            .every(Duration.standardSeconds(10))))
                .apply(GroupByKey.create()));
    all.put(
        "Count in sessions",
        in ->
            in.apply(Window.into(Sessions.withGapDuration(Duration.standardSeconds(9))))
                .apply(Count.perKey()));
    all.put(
        "Sum in fixed windows with fanout",
        in ->
            in.apply(Window.into(FixedWindows.of(Duration.standardSeconds(25))))
                .apply(Sum.longsPerKey())
                .apply(Values.create())
                .apply(Sum.longsGlobally().withoutDefaults()));
    all.put("CoGroupByKey", DirectRunnerComparisonTest::joined);
  }

  private static PCollection<?> joined(PCollection<KV<String, Long>> input) {
    PCollection<KV<String, Long>> few =
        input.apply(Filter.by((KV<String, Long> pair) -> pair.getValue() < 20));
    return KeyedPCollectionTuple.of(LEFT, input)
        .and(RIGHT, few)
        .apply(CoGroupByKey.create())
        .apply(
            MapElements.into(TypeDescriptors.strings())
                .via(
                    (KV<String, CoGbkResult> pair) ->
                        pair.getKey()
                            + Recorder.text(pair.getValue().getAll(LEFT))
                            + Recorder.text(pair.getValue().getAll(RIGHT))));
  }

  private static void build(Pipeline pipeline, String run) {
    List<TimestampedValue<KV<String, Long>>> elements =
        IntStream.range(0, 100)
            .mapToObj(
                n ->
                    TimestampedValue.of(
                        KV.of("key" + n % 7, (long) n), Instant.ofEpochSecond(n + 10L * (n / 20))))
            .toList();
    PCollection<KV<String, Long>> input = pipeline.apply(Create.timestamped(elements));
    BRANCHES.forEach((name, branch) -> gather(input, name, branch, run));
  }

  private static void gather(
      PCollection<KV<String, Long>> input,
      String name,
      Function<PCollection<KV<String, Long>>, PCollection<?>> branch,
      String run) {
    input.apply(name, new Branch(branch, run + "/" + name));
  }

  private static final class Branch extends PTransform<PCollection<KV<String, Long>>, PDone> {
    private final transient Function<PCollection<KV<String, Long>>, PCollection<?>> branch;
    private final String list;

    Branch(Function<PCollection<KV<String, Long>>, PCollection<?>> branch, String list) {
      this.branch = branch;
      this.list = list;
    }

    @Override
    public PDone expand(PCollection<KV<String, Long>> input) {
      gatherAll(branch.apply(input));
      return PDone.in(input.getPipeline());
    }

    private <T> void gatherAll(PCollection<T> output) {
      output.apply("gather", ParDo.of(new Gathered<T>(list)));
    }
  }

  @BeforeAll
  static void runBoth(@TempDir Path checkpoint) {
    Pipeline direct =
        Pipeline.create(
            PipelineOptionsFactory.fromArgs("--runner=" + DirectRunner.class.getSimpleName()).create());
    build(direct, "direct");
    direct.run().waitUntilFinish();
    new RestartHarness(
            SPARK, checkpoint, p -> build(p, "spark"), "--parallelism=2", "--sourceSplits=2")
        .runToTheEnd();
    new RestartHarness(
            SPARK, checkpoint, p -> build(p, "batch"), "--parallelism=2", "--streaming=false")
        .runToTheEnd();
  }

  static Stream<String> transforms() {
    return BRANCHES.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("transforms")
  void theResultIsThatOfTheDirectRunner(String transform) {
    List<String> expected = Gathered.list("direct/" + transform);
    assertThat(expected, not(empty()));
    assertThat(Gathered.list("spark/" + transform), is(expected));
    assertThat(Gathered.list("batch/" + transform), is(expected));
  }
}
