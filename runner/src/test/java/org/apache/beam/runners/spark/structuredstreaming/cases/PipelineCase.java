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

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What tests of single cases share: a session, a recorder and a checkpoint of each test. */
abstract class PipelineCase {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir Path directory;
  Recorder recorder;

  @BeforeEach
  void makeRecorder() {
    recorder = new Recorder(directory.resolve("recorder"));
  }

  /** A harness of pipelines in two partitions. */
  RestartHarness harness(Consumer<Pipeline> build) {
    return new RestartHarness(
        SPARK, directory.resolve("checkpoint"), build, "--parallelism=2", "--sourceSplits=2");
  }

  /** Runs a pipeline to its end. */
  SparkStructuredStreamingPipelineResult run(Consumer<Pipeline> build) {
    return harness(build).runToTheEnd();
  }

  /** What was recorded under {@code name}, by window and pane, each as {@code text} says. */
  List<String> panes(String name, Function<Recorded, String> text) {
    return recorder.seen(name).stream()
        .sorted(
            Comparator.comparing(Recorded::window)
                .thenComparing(Recorded::paneIndex)
                .thenComparing(Recorded::value))
        .map(text)
        .toList();
  }

  /** Gives all elements the key {@code k}. */
  static PTransform<PCollection<String>, PCollection<KV<String, String>>> keyed() {
    return WithKeys.of((String s) -> "k").withKeyType(TypeDescriptors.strings());
  }

  /** The default trigger in other words: what keeps a Combine from being lifted. */
  static <T> Window<T> withoutLifting(Window<T> window) {
    return window
        .triggering(AfterWatermark.pastEndOfWindow())
        .withAllowedLateness(Duration.ZERO)
        .discardingFiredPanes();
  }
}
