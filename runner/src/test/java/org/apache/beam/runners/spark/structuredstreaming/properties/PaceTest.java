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
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.lessThan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.EpochLog;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A source that is always ahead of a step behind the shuffle: epochs do not grow with its backlog. */
@Timeout(180)
class PaceTest {
  private static final long WANTED_MILLIS = 400;
  private static final int CORES = 2;
  private static final long BUSY_MICROS = 200;
  private static final int SETTLING_EPOCHS = 6;
  private static final int EPOCHS = 14;

  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[" + CORES + "]");

  /** Keeps a core busy for a fifth of a millisecond. */
  private static final class BusyFn extends DoFn<Long, Long> {
    private static final long NANOS = TimeUnit.MICROSECONDS.toNanos(BUSY_MICROS);

    @ProcessElement
    public void process(@Element Long number, OutputReceiver<Long> output) {
      long start = System.nanoTime();
      while (System.nanoTime() - start < NANOS) {
        Thread.onSpinWait();
      }
      output.output(number);
    }
  }

  @Test
  void epochsTakeAboutAsLongAsWantedThoughTheWorkIsBehindTheShuffle() {
    Pipeline pipeline =
        Pipeline.create(
            SPARK.options("--maxBatchDurationMillis=" + WANTED_MILLIS, "--sourceSplits=2"));
    pipeline
        .apply(GenerateSequence.from(0))
        .apply(Reshuffle.viaRandomKey())
        .apply(ParDo.of(new BusyFn()));
    try (EpochLog log = EpochLog.of(SPARK)) {
      SparkStructuredStreamingPipelineResult result =
          (SparkStructuredStreamingPipelineResult) pipeline.run();
      try {
        Await.until(
            EPOCHS + " epochs",
            () -> result.progress().epoch() >= EPOCHS || result.getState().isTerminal(),
            result::getState);
      } finally {
        result.cancel();
      }
      List<JsonNode> settled = log.epochs().subList(SETTLING_EPOCHS, EPOCHS);
      assertThat(
          settled.toString(),
          average(settled, epoch -> epoch.path("durationMs").path("addBatch").asLong()),
          greaterThan(WANTED_MILLIS / 4.0));
      // What an epoch costs besides, on a machine that has other things to do, is not for the pace to cut.
      assertThat(
          settled.toString(),
          average(settled, epoch -> epoch.path("numInputRows").asLong()) * BUSY_MICROS / 1_000 / CORES,
          lessThan(WANTED_MILLIS * 3.0));
    }
  }

  private static double average(List<JsonNode> epochs, ToLongFunction<JsonNode> number) {
    return epochs.stream().mapToLong(number).average().orElseThrow();
  }
}
