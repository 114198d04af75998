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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.Map;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.values.PCollection;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Records of a topic are what KafkaIO makes elements of, each once. */
class KafkaReadTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");
  @RegisterExtension static final SharedBroker KAFKA = new SharedBroker();

  @TempDir Path directory;
  private Recorder recorder;

  @BeforeEach
  void setUp() {
    recorder = new Recorder(directory.resolve("recorder"));
  }

  @Test
  void readsWithDeserializersOfKafka() {
    String topic = KAFKA.topics().create("texts", 3);
    KAFKA.topics().sendNumbers(topic, 3, 0, 1000);
    readUntil(
        1000,
        pipeline -> pipeline.apply(texts().withTopic(topic).withoutMetadata()));
    assertThat(
        recorder.values("read"),
        is(
            KafkaTopics.numbers(1000).stream()
                .map(number -> "k" + Integer.parseInt(number) % 10 + "=" + number)
                .sorted()
                .toList()));
  }

  private static KafkaIO.Read<String, String> texts() {
    return KafkaIO.<String, String>read()
        .withBootstrapServers(KAFKA.broker().servers())
        .withConsumerConfigUpdates(Map.of("auto.offset.reset", "earliest"))
        .withKeyDeserializer(StringDeserializer.class)
        .withValueDeserializer(StringDeserializer.class);
  }

  /** What a test reads. */
  @FunctionalInterface
  private interface Reading<T> {
    PCollection<T> from(Pipeline pipeline);
  }

  /** Runs a pipeline that only reads until it has read so many records. */
  private <T> void readUntil(int count, Reading<T> reading) {
    new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            pipeline -> reading.from(pipeline).apply(recorder.as("read")))
        .runUntil(count + " records", result -> recorder.seen("read").size() >= count);
  }
}
