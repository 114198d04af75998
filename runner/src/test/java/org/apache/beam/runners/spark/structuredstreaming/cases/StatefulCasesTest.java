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
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.is;

import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Counters;
import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupIntoBatches;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;

/** What DoFns with state are given, and what is left of it at a window's end. */
class StatefulCasesTest extends PipelineCase {
  /** apache/beam#22524. */
  @Test
  void theLastPartOfABatchLeavesWhenItsWindowExpires() {
    SparkStructuredStreamingPipelineResult result =
        run(
            p ->
                p.apply(
                        Events.stream()
                            .at(1, "1").at(2, "2").at(3, "3").at(4, "4").then()
                            .at(5, "5").at(6, "6").at(7, "7")
                            .watermark(12).watermark(30).end())
                    .apply(
                        Window.<String>into(FixedWindows.of(Duration.standardSeconds(10)))
                            .withAllowedLateness(Duration.standardSeconds(5))
                            .discardingFiredPanes())
                    .apply(keyed())
                    .apply(GroupIntoBatches.ofSize(3))
                    .apply(recorder.as("batches")));
    assertThat(
        recorder.seen("batches").stream().map(Recorded::value).toList(),
        containsInAnyOrder("k=[1, 2, 3]", "k=[4, 5, 6]", "k=[7]"));
    assertThat(Counters.droppedDueToLateness(result), is(0L));
    assertThat(result.progress().steps().stream().mapToLong(step -> step.stateRows()).sum(), is(0L));
  }

  /** Passes its input on in the order in which it comes. */
  static final class InOrder extends DoFn<KV<String, String>, String> {
    @RequiresTimeSortedInput
    @ProcessElement
    public void process(@Element KV<String, String> element, OutputReceiver<String> out) {
      out.output(element.getValue());
    }
  }

  @Test
  void timeSortedInputComesInOrderAndWhatIsTooLateIsDropped() {
    Script script =
        Script.split().at(7, "7").at(3, "3").at(5, "5a").epoch()
            .at(5, "5b").watermark(5.5).epoch().at(4, "4 is late").at(6, "6").epoch().end();
    SparkStructuredStreamingPipelineResult result =
        run(
            p ->
                p.apply(Script.read("sorted", script))
                    .apply(keyed())
                    .apply(ParDo.of(new InOrder()))
                    .apply(recorder.as("sorted")));
    assertThat(
        recorder.seen("sorted").stream().map(Recorded::value).toList(),
        contains("3", "5a", "5b", "6", "7"));
    assertThat(Counters.droppedDueToLateness(result), is(1L));
  }
}
