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
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.lessThan;

import java.nio.file.Path;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.EpochLog;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.AfterProcessingTime;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Timers by processing time fire by themselves, in a pipeline that nothing comes to. */
class ProcessingTimeTest {
  private static final long DELAY_MILLIS = 3000;

  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir Path directory;

  /** Starts a pipeline that would rest for a minute in the end. */
  private SparkStructuredStreamingPipelineResult start(Recorder recorder, String name) {
    SparkStructuredStreamingPipelineOptions options =
        SPARK.options("--checkpointDir=" + directory.resolve("checkpoint"));
    options.setMaxIdlePauseMillis(60_000L);
    Pipeline pipeline = Pipeline.create(options);
    build(pipeline, recorder, name);
    return (SparkStructuredStreamingPipelineResult) pipeline.run();
  }

  private static void build(Pipeline pipeline, Recorder recorder, String name) {
    pipeline
        .apply(Script.read(name, Script.split().at(1, "a").idle()))
        .apply(recorder.as("elements"))
        .apply(
            Window.<String>into(new GlobalWindows())
                .triggering(
                    Repeatedly.forever(
                        AfterProcessingTime.pastFirstElementInPane()
                            .plusDelayOf(Duration.millis(DELAY_MILLIS))))
                .withAllowedLateness(Duration.ZERO)
                .discardingFiredPanes())
        .apply(WithKeys.of("k"))
        .apply(GroupByKey.create())
        .apply(recorder.as("panes"));
  }

  @Test
  void aPipelineAtRestFiresWhenTheDelayIsOverAndNotByBeingBusy() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    try (EpochLog log = EpochLog.of(SPARK)) {
      SparkStructuredStreamingPipelineResult result = start(recorder, "delay");
      try {
        recorder.await("panes", 1);
      } finally {
        result.cancel();
      }
      int fired = Math.toIntExact(recorder.seen("panes").get(0).epoch());
      long from = Instant.parse(log.epochs().get(0).get("timestamp").asText()).getMillis();
      long to = Instant.parse(log.epochs().get(fired).get("timestamp").asText()).getMillis();
      // The trigger's start, up to a pause ahead of the epoch that it logs.
      assertThat(
          to - from,
          allOf(greaterThanOrEqualTo(DELAY_MILLIS - 500), lessThan(DELAY_MILLIS + 10_000)));
      assertThat(fired, lessThan(100));
    }
    assertThat(recorder.values("panes"), contains("k=[a]"));
  }

  @Test
  void aStartFindsTheTimersOfTheOneBefore() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    SparkStructuredStreamingPipelineResult first = start(recorder, "restarted-delay");
    try {
      Await.until("the element", () -> first.progress().epoch() >= 0, first::getState);
    } finally {
      first.cancel();
    }
    assertThat(recorder.values("elements"), contains("a"));
    SparkStructuredStreamingPipelineResult second = start(recorder, "restarted-delay");
    try {
      recorder.await("panes", 1);
    } finally {
      second.cancel();
    }
    assertThat(recorder.values("panes"), contains("k=[a]"));
    assertThat(recorder.values("elements"), contains("a"));
  }
}
