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

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.NullableCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.io.kafka.ProducerRecordCoder;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What pipelines write is in the topics, as a consumer of the test's own sees them. */
class KafkaWriteTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");
  @RegisterExtension static final SharedBroker KAFKA = new SharedBroker();

  @TempDir Path directory;

  @Test
  void aBatchWritesPairs() {
    String topic = KAFKA.topics().create("pairs", 2);
    Pipeline pipeline = Pipeline.create(SPARK.options("--streaming=false"));
    pipeline
        .apply(
            Create.of(KV.of("a", "1"), KV.of("b", "2"), KV.of("c", (String) null))
                .withCoder(
                    KvCoder.of(StringUtf8Coder.of(), NullableCoder.of(StringUtf8Coder.of()))))
        .apply(write().withTopic(topic));
    assertThat(pipeline.run().waitUntilFinish(), is(State.DONE));
    assertThat(texts(topic), is(List.of("a=1", "b=2", "c=null")));
  }

  @Test
  void aBatchWritesValuesWithoutKeys() {
    String topic = KAFKA.topics().create("values", 1);
    Pipeline pipeline = Pipeline.create(SPARK.options("--streaming=false"));
    pipeline.apply(Create.of("1", "2", "3")).apply(write().withTopic(topic).values());
    assertThat(pipeline.run().waitUntilFinish(), is(State.DONE));
    assertThat(texts(topic), is(List.of("null=1", "null=2", "null=3")));
  }

  @Test
  void recordsKeepTopicPartitionTimeAndHeaders() {
    String first = KAFKA.topics().create("records-a", 2);
    String second = KAFKA.topics().create("records-b", 1);
    Pipeline pipeline = Pipeline.create(SPARK.options("--streaming=false"));
    PCollection<ProducerRecord<String, String>> records =
        pipeline.apply(
            Create.of(
                    new ProducerRecord<>(
                        first,
                        1,
                        1_000L,
                        "a",
                        "1",
                        List.of(new RecordHeader("origin", "test".getBytes(UTF_8)))),
                    new ProducerRecord<>(second, 0, 2_000L, "b", "2"))
                .withCoder(ProducerRecordCoder.of(StringUtf8Coder.of(), StringUtf8Coder.of())));
    records.apply(
        KafkaIO.<String, String>writeRecords()
            .withBootstrapServers(KAFKA.broker().servers())
            .withKeySerializer(StringSerializer.class)
            .withValueSerializer(StringSerializer.class));
    assertThat(pipeline.run().waitUntilFinish(), is(State.DONE));
    assertThat(
        Stream.of(first, second)
            .flatMap(topic -> KAFKA.topics().read(topic).stream())
            .map(KafkaWriteTest::withMetadata)
            .toList(),
        is(List.of(first + " 1 1000 a=1 origin:test", second + " 0 2000 b=2 ")));
  }

  private static String withMetadata(ConsumerRecord<String, String> record) {
    StringBuilder headers = new StringBuilder();
    record
        .headers()
        .forEach(
            header ->
                headers.append(header.key()).append(':').append(new String(header.value(), UTF_8)));
    return String.join(
        " ",
        record.topic(),
        Integer.toString(record.partition()),
        Long.toString(record.timestamp()),
        record.key() + "=" + record.value(),
        headers);
  }

  @Test
  void aStreamWritesWhatItReads() {
    String input = KAFKA.topics().create("stream-in", 2);
    String output = KAFKA.topics().create("stream-out", 2);
    KAFKA.topics().sendNumbers(input, 2, 0, 500);
    KafkaRun run = new KafkaRun(SPARK, directory);
    run.runUntil(
        "all records",
        () -> KAFKA.topics().read(output).size() >= 500,
        run.harness(
            pipeline -> {
              PCollection<KV<String, String>> read =
                  pipeline.apply(
                      KafkaRun.texts(KAFKA.broker()).withTopic(input).withoutMetadata());
              read.apply(write().withTopic(output));
              return read;
            }));
    assertThat(KAFKA.topics().values(output), is(KafkaTopics.numbers(500)));
  }

  /** Over several epochs, and once more from the checkpoint, without a fault. */
  @Test
  void theExactlyOnceSinkWritesInTransactions() {
    String input = KAFKA.topics().create("once-in", 2);
    String output = KAFKA.topics().create("once-out", 2);
    String group = SharedBroker.name("sink");
    KafkaRun run = new KafkaRun(SPARK, directory);
    for (int round = 1; round <= 2; round++) {
      int count = 100 * round;
      KAFKA.topics().sendNumbers(input, 2, count - 100, count);
      run.runUntil(
          count + " records",
          () -> KAFKA.topics().read(output).size() >= count,
          run.harness(
              pipeline -> {
                PCollection<KV<String, String>> read =
                    pipeline.apply(
                        KafkaRun.texts(KAFKA.broker()).withTopic(input).withoutMetadata());
                read.apply(write().withTopic(output).withEOS(2, group));
                return read;
              },
              "--maxRecordsPerMicroBatch=30"));
      assertThat(KAFKA.topics().values(output), is(KafkaTopics.numbers(count)));
    }
    assertThat(KAFKA.topics().committed(group, output).keySet(), is(Set.of(0, 1)));
  }

  static KafkaIO.Write<String, String> write() {
    return KafkaIO.<String, String>write()
        .withBootstrapServers(KAFKA.broker().servers())
        .withKeySerializer(StringSerializer.class)
        .withValueSerializer(StringSerializer.class);
  }

  private static List<String> texts(String topic) {
    return KAFKA.topics().read(topic).stream()
        .map(record -> record.key() + "=" + record.value())
        .sorted()
        .toList();
  }
}
