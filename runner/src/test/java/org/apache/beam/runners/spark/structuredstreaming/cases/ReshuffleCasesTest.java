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
import static org.hamcrest.Matchers.is;

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Counters;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.Redistribute;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is moved to other machines stays as it is and loses nothing: apache/beam#28272. */
class ReshuffleCasesTest extends PipelineCase {
  /** The transforms that move elements. */
  enum Move {
    RESHUFFLE {
      @Override
      <V> PTransform<PCollection<KV<String, V>>, PCollection<KV<String, V>>> transform() {
        return Reshuffle.of();
      }
    },
    RESHUFFLE_VIA_RANDOM_KEY {
      @Override
      <V> PTransform<PCollection<KV<String, V>>, PCollection<KV<String, V>>> transform() {
        return Reshuffle.viaRandomKey();
      }
    },
    REDISTRIBUTE_BY_KEY {
      @Override
      <V> PTransform<PCollection<KV<String, V>>, PCollection<KV<String, V>>> transform() {
        return Redistribute.byKey();
      }
    },
    REDISTRIBUTE_ARBITRARILY {
      @Override
      <V> PTransform<PCollection<KV<String, V>>, PCollection<KV<String, V>>> transform() {
        return Redistribute.arbitrarily();
      }
    };

    abstract <V> PTransform<PCollection<KV<String, V>>, PCollection<KV<String, V>>> transform();
  }

  /** apache/beam#28272, apache/beam#28853: value, timestamp, window and pane are the same behind. */
  @ParameterizedTest
  @EnumSource(Move.class)
  void panesKeepTheirNumbersWindowsAndTimestamps(Move move) {
    run(
        p ->
            p.apply(
                    Script.read(
                        "panes-" + move,
                        Script.split().at(1, "1").epoch().at(2, "2").epoch().end()))
                .apply(
                    Window.<String>into(FixedWindows.of(Duration.standardSeconds(10)))
                        .triggering(
                            AfterWatermark.pastEndOfWindow()
                                .withEarlyFirings(AfterPane.elementCountAtLeast(1)))
                        .withAllowedLateness(Duration.ZERO)
                        .discardingFiredPanes())
                .apply(keyed())
                .apply(GroupByKey.create())
                .apply(recorder.as("before"))
                .apply(move.transform())
                .apply(recorder.as("after")));
    List<String> before = panes("before", Recorded::toString);
    assertThat(panes("after", Recorded::toString), is(before));
    assertThat(
        panes("before", pane -> pane.value() + " " + pane.timing() + " " + pane.paneIndex()),
        contains("k=[1] EARLY 0", "k=[2] EARLY 1", "k=[] ON_TIME 2"));
  }

  /** apache/beam#3080: moving is no grouping, so nothing is too late for it. */
  @ParameterizedTest
  @EnumSource(Move.class)
  void elementsBehindTheWatermarkPass(Move move) {
    SparkStructuredStreamingPipelineResult result =
        run(
            p ->
                p.apply(
                        Script.read(
                            "late-" + move,
                            Script.split().watermark(100).epoch().at(1, "e").epoch().end()))
                    .apply(Window.into(FixedWindows.of(Duration.standardSeconds(10))))
                    .apply(keyed())
                    .apply(move.transform())
                    .apply(recorder.as("after")));
    assertThat(
        panes("after", element -> element.value() + " at " + element.timestampMillis()),
        contains("k=e at 1000"));
    assertThat(recorder.seen("after").get(0).window(), is(9999L));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
  }
}
