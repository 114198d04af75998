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
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.io.kafka.KafkaRecord;
import org.apache.beam.sdk.io.kafka.KafkaSourceDescriptor;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * What KafkaIO has in splittable DoFns alone, without any experiment given by the user: partitions that
 * appear while the pipeline runs, an end by time, and reads of descriptors.
 */
class KafkaDynamicReadTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");
  @RegisterExtension static final SharedBroker KAFKA = new SharedBroker();

  @TempDir Path directory;
  private KafkaRun run;

  @BeforeEach
  void setUp() {
    run = new KafkaRun(SPARK, directory);
  }

  private List<String> read() {
    return run.recorder().values(KafkaRun.READ);
  }

  private static KafkaIO.Read<String, String> dynamic() {
    return KafkaRun.texts(KAFKA.broker())
        .withDynamicRead(Duration.millis(200))
        .withConsumerPollingTimeout(1);
  }

  @Test
  void readsPartitionsThatAreAddedAndGoesOnWithThemWhenStartedAgain() {
    String topic = KAFKA.topics().create("growing", 1);
    RestartHarness harness =
        run.harness(
            pipeline ->
                pipeline.apply(dynamic().withTopic(topic)).apply(values()));
    SparkStructuredStreamingPipelineResult result = harness.start();
    try {
      KAFKA.topics().sendNumbers(topic, 1, 0, 10);
      run.recorder().await(KafkaRun.READ, 10);
      KAFKA.topics().extend(topic, 2);
      KAFKA.topics().sendNumbers(topic, 2, 10, 20);
      run.recorder().await(KafkaRun.READ, 20);
    } finally {
      result.cancel();
    }
    KAFKA.topics().sendNumbers(topic, 2, 20, 30);
    run.runUntil("all records", () -> run.recorder().seen(KafkaRun.READ).size() >= 30, harness);
    assertThat(read(), is(KafkaTopics.numbers(30)));
  }

  @Test
  void readsTopicsOfAPatternThatAreAdded() {
    String first = KAFKA.topics().create("later", 1);
    Pattern pattern = Pattern.compile(Pattern.quote(first) + "(-more-.*)?");
    SparkStructuredStreamingPipelineResult result =
        run.harness(
                pipeline ->
                    pipeline
                        .apply(dynamic().withTopicPattern(pattern.pattern()))
                        .apply(values()))
            .start();
    try {
      KAFKA.topics().sendNumbers(first, 1, 0, 5);
      run.recorder().await(KafkaRun.READ, 5);
      String second = KAFKA.topics().create(first + "-more", 1);
      KAFKA.topics().sendNumbers(second, 1, 5, 10);
      run.recorder().await(KafkaRun.READ, 10);
    } finally {
      result.cancel();
    }
    assertThat(read(), is(KafkaTopics.numbers(10)));
  }

  /** KafkaIO commits, at the end of each five minutes of event time, what has been read of them. */
  @Test
  void commitsWhatItHasReadOnceItsWindowHasClosed() {
    String topic = KAFKA.topics().create("dynamic-commit", 1);
    String group = SharedBroker.name("group");
    KAFKA
        .topics()
        .send(
            IntStream.range(0, 10)
                .mapToObj(
                    number ->
                        new ProducerRecord<>(
                            topic, 0, (number < 5 ? 0L : 3_600_000L) + number, "k", "" + number))
                .toList());
    SparkStructuredStreamingPipelineResult result =
        run.harness(
                pipeline ->
                    pipeline
                        .apply(
                            dynamic()
                                .withTopic(topic)
                                .withCreateTime(Duration.ZERO)
                                .withConsumerConfigUpdates(Map.of("group.id", group))
                                .commitOffsetsInFinalize())
                        .apply(values()))
            .start();
    try {
      Await.until(
          "the commit of all offsets",
          () -> KAFKA.topics().committed(group, topic).equals(Map.of(0, 10L)),
          () -> KAFKA.topics().committed(group, topic));
    } finally {
      result.cancel();
    }
    assertThat(read(), is(KafkaTopics.numbers(10)));
  }

  /** A read that ends at a time is bounded, and so a batch. */
  @Test
  void endsAtATime() {
    String topic = KAFKA.topics().create("until", 2);
    KAFKA
        .topics()
        .send(
            IntStream.range(0, 40)
                .mapToObj(
                    number ->
                        new ProducerRecord<>(
                            topic, number % 2, 1_000L * (number + 1), "k", "" + number))
                .toList());
    Pipeline pipeline = Pipeline.create(SPARK.options("--streaming=false"));
    pipeline
        .apply(
            KafkaRun.texts(KAFKA.broker())
                .withTopic(topic)
                .withStartReadTime(Instant.ofEpochSecond(1))
                .withStopReadTime(Instant.ofEpochSecond(31)))
        .apply(values())
        .apply(run.recorder().as(KafkaRun.READ));
    SparkStructuredStreamingPipelineResult result =
        (SparkStructuredStreamingPipelineResult) pipeline.run();
    assertThat(result.waitUntilFinish(), is(State.DONE));
    assertThat(read(), is(KafkaTopics.numbers(30)));
  }

  @Test
  void readsWhatDescriptorsName() {
    String topic = KAFKA.topics().create("described", 2);
    KAFKA.topics().sendNumbers(topic, 2, 0, 20);
    List<KafkaSourceDescriptor> descriptors =
        IntStream.range(0, 2)
            .mapToObj(
                partition ->
                    KafkaSourceDescriptor.of(
                        new TopicPartition(topic, partition),
                        0L,
                        null,
                        10L,
                        null,
                        List.of(KAFKA.broker().servers())))
            .toList();
    run.readUntil(
        20,
        pipeline ->
            pipeline
                .apply(Create.of(descriptors))
                .apply(
                    KafkaIO.<String, String>readSourceDescriptors()
                        .withKeyDeserializer(StringDeserializer.class)
                        .withValueDeserializer(StringDeserializer.class))
                .apply(values()));
    assertThat(read(), is(KafkaTopics.numbers(20)));
  }

  private static MapElements<KafkaRecord<String, String>, String> values() {
    return MapElements.into(TypeDescriptors.strings())
        .via((KafkaRecord<String, String> record) -> record.getKV().getValue());
  }
}
