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
package org.apache.beam.runners.spark.structuredstreaming.kafka;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.values.PCollection;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Pipelines of a test that read from Kafka and never end by themselves. */
final class KafkaRun {
  /** The name under which {@link #readUntil} records. */
  static final String READ = "read";

  private final TestSpark spark;
  private final Path checkpoint;
  private final Recorder recorder;

  /**
   * @param directory of the test alone
   */
  KafkaRun(TestSpark spark, Path directory) {
    this.spark = spark;
    this.checkpoint = directory.resolve("checkpoint");
    this.recorder = new Recorder(directory.resolve("recorder"));
  }

  Recorder recorder() {
    return recorder;
  }

  /** What a test reads. */
  @FunctionalInterface
  interface Reading<T> {
    PCollection<T> from(Pipeline pipeline);
  }

  /** A harness for a pipeline that records what it reads and makes of it. */
  <T> RestartHarness harness(Reading<T> reading, String... options) {
    return new RestartHarness(
        spark, checkpoint, pipeline -> reading.from(pipeline).apply(recorder.as(READ)), options);
  }

  /** Runs a pipeline until it has recorded so many elements. */
  <T> void readUntil(int count, Reading<T> reading, String... options) {
    runUntil(
        count + " elements", () -> recorder.seen(READ).size() >= count, harness(reading, options));
  }

  /** Runs a pipeline until the condition holds. */
  void runUntil(String what, BooleanSupplier condition, RestartHarness harness) {
    harness.runUntil(what, result -> condition.getAsBoolean());
  }

  /** A read of texts from their beginning. */
  static KafkaIO.Read<String, String> texts(KafkaBroker broker) {
    return KafkaIO.<String, String>read()
        .withBootstrapServers(broker.servers())
        .withConsumerConfigUpdates(Map.of("auto.offset.reset", "earliest"))
        .withKeyDeserializer(StringDeserializer.class)
        .withValueDeserializer(StringDeserializer.class);
  }
}
