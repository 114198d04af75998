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
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;

import java.util.HashSet;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceTrace;
import org.apache.beam.runners.spark.structuredstreaming.testing.Counters;
import org.apache.beam.runners.spark.structuredstreaming.testing.EpochLog;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.testing.PAssert;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.join.CoGbkResult;
import org.apache.beam.sdk.transforms.join.CoGroupByKey;
import org.apache.beam.sdk.transforms.join.KeyedPCollectionTuple;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.beam.sdk.values.PCollectionTuple;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TupleTagList;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;

/** One source read once, whatever hangs on it, bounded ones and Create included. */
class SourceCasesTest extends PipelineCase {
  private static final TupleTag<String> EVEN = new TupleTag<>() {};
  private static final TupleTag<String> ODD = new TupleTag<>() {};
  private static final TupleTag<String> LEFT = new TupleTag<>() {};
  private static final TupleTag<String> RIGHT = new TupleTag<>() {};

  /** Seconds 1 to 10, one record each. */
  private static Script tenRecords() {
    Script script = Script.split();
    for (int second = 1; second <= 10; second++) {
      script.at(second, Integer.toString(second));
    }
    return script.end();
  }

  private static final class SplitByParityFn extends DoFn<String, String> {
    @ProcessElement
    public void process(@Element String number, MultiOutputReceiver out) {
      out.get(Integer.parseInt(number) % 2 == 0 ? EVEN : ODD).output(number);
    }
  }

  /** apache/beam#40090: what batch translations collect on the driver works in an endless pipeline. */
  @Test
  void createSeveralOutputsAndAssertionsWorkBesideAnUnboundedSource() {
    SparkStructuredStreamingPipelineResult result =
        run(
            p -> {
              PCollectionTuple outputs =
                  p.apply(Script.read("several-outputs", tenRecords()))
                      .apply(
                          ParDo.of(new SplitByParityFn()).withOutputTags(EVEN, TupleTagList.of(ODD)));
              PAssert.that(outputs.get(EVEN)).containsInAnyOrder("2", "4", "6", "8", "10");
              PAssert.that(outputs.get(ODD)).containsInAnyOrder("1", "3", "5", "7", "9");
              PAssert.that(p.apply(Create.of("x"))).containsInAnyOrder("x");
            });
    assertThat(Counters.committed(result, PAssert.SUCCESS_COUNTER), is(3L));
    assertThat(Counters.committed(result, PAssert.FAILURE_COUNTER), is(0L));
  }

  /** apache/spark#38553, apache/spark#20598: the union of a source with itself. */
  @Test
  void aSourceFlattenedWithItselfIsReadOnce() {
    run(
        p -> {
          PCollection<String> source = p.apply(Script.read("self-union", tenRecords()));
          PCollectionList.of(source)
              .and(source)
              .and(source.apply(MapElements.into(TypeDescriptors.strings()).via((String s) -> s)))
              .apply(Flatten.pCollections())
              .apply(Window.into(FixedWindows.of(Duration.standardMinutes(1))))
              .apply("all", MapElements.into(TypeDescriptors.strings()).via((String s) -> "all"))
              .apply(Count.perElement())
              .apply(recorder.as("count"));
        });
    assertThat(recorder.values("count"), contains("all=30"));
    assertThat(SourceTrace.of("self-union").pulled.get(), is(10));
  }

  /** apache/spark#38553, apache/spark#20598: the join of a source with itself. */
  @Test
  void aSourceJoinedWithItselfIsReadOnce() {
    run(
        p -> {
          PCollection<KV<String, String>> source =
              p.apply(Script.read("self-join", tenRecords()))
                  .apply(Window.into(FixedWindows.of(Duration.standardMinutes(1))))
                  .apply(WithKeys.of((String s) -> s).withKeyType(TypeDescriptors.strings()));
          KeyedPCollectionTuple.of(LEFT, source)
              .and(RIGHT, source)
              .apply(CoGroupByKey.create())
              .apply(
                  MapElements.into(TypeDescriptors.strings())
                      .via(
                          (KV<String, CoGbkResult> joined) ->
                              Recorder.text(joined.getValue().getAll(LEFT))
                                  + Recorder.text(joined.getValue().getAll(RIGHT))))
              .apply(recorder.as("joined"));
        });
    assertThat(
        recorder.values("joined"),
        contains(
            "[10][10]", "[1][1]", "[2][2]", "[3][3]", "[4][4]", "[5][5]", "[6][6]", "[7][7]", "[8][8]",
            "[9][9]"));
    assertThat(SourceTrace.of("self-join").pulled.get(), is(10));
  }

  /** apache/beam#339: a mark half-way through a bounded source must not lead back to its beginning. */
  @Test
  void aBoundedSourceGoesOnWhereItWasAfterARestart() {
    RestartHarness harness =
        new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            p ->
                p.apply(GenerateSequence.from(0).to(1000))
                    .apply(Count.perElement())
                    .apply(recorder.as("counts")),
            "--parallelism=2",
            "--sourceSplits=2",
            "--maxRecordsPerMicroBatch=100");
    try (EpochLog log = EpochLog.of(SPARK)) {
      assertThat(
          harness.runUntil("300 records", r -> r.progress().epoch() >= 2), is(State.CANCELLED));
      int before = log.epochs().size();
      harness.runToTheEnd();
      List<Long> watermarks = log.watermarks("Count", "inputWatermark");
      assertThat(before, lessThan(8));
      assertThat(
          watermarks.subList(0, 9), everyItem(is(BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis())));
      assertThat(
          watermarks.get(watermarks.size() - 1), is(BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis()));
    }
    List<String> counts = recorder.values("counts");
    assertThat(counts, hasSize(1000));
    assertThat(new HashSet<>(counts).size(), is(1000));
    assertThat(counts.stream().filter(count -> !count.endsWith("=1")).toList(), hasSize(0));
  }

  /** What a reader counts is among the pipeline's metrics, from its start on. */
  @Test
  void theCountersOfASourceAreKept() {
    SparkStructuredStreamingPipelineResult result =
        run(p -> p.apply(GenerateSequence.from(0).to(100)));
    assertThat(Counters.committed(result, "elements_read"), is(100L));
  }
}
