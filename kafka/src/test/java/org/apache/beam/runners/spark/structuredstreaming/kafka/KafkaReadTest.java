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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.startsWith;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.io.kafka.KafkaRecord;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.spark.TaskContext;
import org.joda.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records of a topic are what KafkaIO makes elements of, each once. */
class KafkaReadTest {
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

  @Test
  void readsWithDeserializersOfKafka() {
    String topic = KAFKA.topics().create("texts", 3);
    KAFKA.topics().sendNumbers(topic, 3, 0, 1000);
    run.readUntil(
        1000,
        pipeline ->
            pipeline.apply(KafkaRun.texts(KAFKA.broker()).withTopic(topic).withoutMetadata()));
    assertThat(read(), is(pairs(0, 1000)));
  }

  /** Of its type Beam knows no coder. */
  public static final class NumberDeserializer implements Deserializer<Number> {
    @Override
    public Number deserialize(String topic, byte[] data) {
      return Long.valueOf(new String(data, UTF_8));
    }
  }

  /** Writes as a text what {@link NumberDeserializer} has made of one. */
  public static final class NumberCoder extends CustomCoder<Number> {
    @Override
    public void encode(Number value, OutputStream out) throws IOException {
      StringUtf8Coder.of().encode(value.toString(), out);
    }

    @Override
    public Number decode(InputStream in) throws IOException {
      return Long.valueOf(StringUtf8Coder.of().decode(in));
    }
  }

  @Test
  void readsWithCodersOfBeam() {
    String topic = KAFKA.topics().create("coders", 2);
    KAFKA.topics().sendNumbers(topic, 2, 0, 100);
    run.readUntil(
        100,
        pipeline ->
            pipeline.apply(
                KafkaIO.<String, Number>read()
                    .withBootstrapServers(KAFKA.broker().servers())
                    .withConsumerConfigUpdates(Map.of("auto.offset.reset", "earliest"))
                    .withTopic(topic)
                    .withKeyDeserializerAndCoder(StringDeserializer.class, StringUtf8Coder.of())
                    .withValueDeserializerAndCoder(NumberDeserializer.class, new NumberCoder())
                    .withoutMetadata()));
    assertThat(read(), is(pairs(0, 100)));
  }

  @Test
  void readsNoKeysAndNoValues() {
    String topic = KAFKA.topics().create("nulls", 1);
    KAFKA
        .topics()
        .send(
            List.of(
                new ProducerRecord<>(topic, null, "value"),
                new ProducerRecord<>(topic, "key", null),
                new ProducerRecord<>(topic, null, null)));
    run.readUntil(
        3,
        pipeline ->
            pipeline.apply(KafkaRun.texts(KAFKA.broker()).withTopic(topic).withoutMetadata()));
    assertThat(read(), is(List.of("key=null", "null=null", "null=value")));
  }

  @Test
  void readsTheMetadataOfRecords() {
    String topic = KAFKA.topics().create("metadata", 2);
    Header header = new RecordHeader("origin", KafkaTopics.bytes("test"));
    KAFKA
        .topics()
        .send(
            List.of(
                new ProducerRecord<>(topic, 1, 1_000L, "k", "first", List.of(header)),
                new ProducerRecord<>(topic, 1, 2_000L, "k", "second")));
    run.readUntil(
        2,
        pipeline ->
            pipeline
                .apply(KafkaRun.texts(KAFKA.broker()).withTopic(topic))
                .apply(
                    MapElements.into(TypeDescriptors.strings()).via(KafkaReadTest::withMetadata)));
    assertThat(
        read(),
        is(
            List.of(
                topic + " 1 0 1000 CREATE_TIME origin:test k first",
                topic + " 1 1 2000 CREATE_TIME  k second")));
  }

  private static String withMetadata(KafkaRecord<String, String> record) {
    StringBuilder headers = new StringBuilder();
    record
        .getHeaders()
        .forEach(
            header ->
                headers
                    .append(header.key())
                    .append(':')
                    .append(new String(header.value(), UTF_8)));
    return String.join(
        " ",
        record.getTopic(),
        Integer.toString(record.getPartition()),
        Long.toString(record.getOffset()),
        Long.toString(record.getTimestamp()),
        record.getTimestampType().name(),
        headers,
        record.getKV().getKey(),
        record.getKV().getValue());
  }

  @Test
  void readsTwentyPartitionsOfTopicsOfAPattern() {
    String first = KAFKA.topics().create("many-a", 10);
    String second = KAFKA.topics().create("many-b", 10);
    KAFKA.topics().create("other-many", 1);
    KAFKA.topics().sendNumbers(first, 10, 0, 1000);
    KAFKA.topics().sendNumbers(second, 10, 1000, 2000);
    run.readUntil(
        2000,
        pipeline ->
            pipeline.apply(
                KafkaRun.texts(KAFKA.broker())
                    .withTopicPattern(Pattern.quote(first) + "|" + Pattern.quote(second))
                    .withoutMetadata()));
    assertThat(read(), is(pairs(0, 2000)));
  }

  @Test
  void readsThePartitionsThatAreNamed() {
    String topic = KAFKA.topics().create("named", 3);
    KAFKA.topics().sendNumbers(topic, 3, 0, 30);
    run.readUntil(
        10,
        pipeline ->
            pipeline.apply(
                KafkaRun.texts(KAFKA.broker())
                    .withTopicPartitions(List.of(new TopicPartition(topic, 1)))
                    .withoutMetadata()));
    assertThat(
        read(),
        is(
            IntStream.range(0, 30)
                .filter(number -> number % 3 == 1)
                .mapToObj(KafkaReadTest::pair)
                .sorted()
                .toList()));
  }

  @Test
  void readsRecordsThatArriveWhileThePipelineRuns() {
    String topic = KAFKA.topics().create("arriving", 2);
    SparkStructuredStreamingPipelineResult result =
        run.harness(
                pipeline ->
                    pipeline.apply(
                        KafkaRun.texts(KAFKA.broker()).withTopic(topic).withoutMetadata()))
            .start();
    try {
      for (int round = 0; round < 5; round++) {
        KAFKA.topics().sendNumbers(topic, 2, round * 20, (round + 1) * 20);
        run.recorder().await(KafkaRun.READ, (round + 1) * 20);
      }
      // Nothing is asked for that KafkaIO's source lacks, so that is what is run.
      assertThat(result.progressJson(), containsString("KafkaUnboundedSource"));
    } finally {
      result.cancel();
    }
    assertThat(read(), is(pairs(0, 100)));
  }

  /** Which redistribution a read asks for. */
  enum Redistribution {
    PLAIN {
      @Override
      KafkaIO.Read<String, String> of(KafkaIO.Read<String, String> read) {
        return read.withRedistribute();
      }
    },
    BUCKETS {
      @Override
      KafkaIO.Read<String, String> of(KafkaIO.Read<String, String> read) {
        return read.withRedistribute().withRedistributeNumKeys(16);
      }
    },
    WITH_DUPLICATES_ALLOWED {
      @Override
      KafkaIO.Read<String, String> of(KafkaIO.Read<String, String> read) {
        return read.withRedistribute().withAllowDuplicates(true);
      }
    },
    BY_OFFSET {
      @Override
      KafkaIO.Read<String, String> of(KafkaIO.Read<String, String> read) {
        return read.withRedistribute().withOffsetDeduplication(true);
      }
    },
    BY_KEY {
      @Override
      KafkaIO.Read<String, String> of(KafkaIO.Read<String, String> read) {
        return read.withRedistribute().withOffsetDeduplication(true).withRedistributeByRecordKey(true);
      }
    };

    abstract KafkaIO.Read<String, String> of(KafkaIO.Read<String, String> read);
  }

  /** Tells the partition of the task that it is called by. */
  private static final class TaskFn extends DoFn<KafkaRecord<String, String>, String> {
    @ProcessElement
    public void process(
        @Element KafkaRecord<String, String> record, OutputReceiver<String> output) {
      output.output(TaskContext.getPartitionId() + " " + record.getKV().getValue());
    }
  }

  /** One task reads the only partition, and others have to do with its records behind that. */
  @ParameterizedTest
  @EnumSource(Redistribution.class)
  void redistributesWhatItReadsAndGoesOnWhenStartedAgain(Redistribution redistribution) {
    String topic = KAFKA.topics().create("redistributed", 1);
    KAFKA.topics().sendNumbers(topic, 1, 0, 100);
    RestartHarness harness =
        run.harness(
            pipeline ->
                pipeline
                    .apply(redistribution.of(KafkaRun.texts(KAFKA.broker()).withTopic(topic)))
                    .apply(ParDo.of(new TaskFn())),
            "--parallelism=2");
    run.runUntil("100 records", () -> read().size() >= 100, harness);
    KAFKA.topics().sendNumbers(topic, 1, 100, 200);
    run.runUntil("200 records", () -> read().size() >= 200, harness);
    assertThat(
        read().stream().map(text -> text.substring(2)).sorted().toList(), is(KafkaTopics.numbers(200)));
    assertThat(
        read().stream().map(text -> text.substring(0, 1)).distinct().sorted().toList(),
        is(List.of("0", "1")));
  }

  /** With the default of {@code auto.offset.reset}, a source without marks begins at the end. */
  @Test
  void startsAtATime() {
    String topic = KAFKA.topics().create("since", 1);
    KAFKA
        .topics()
        .send(
            IntStream.range(0, 20)
                .mapToObj(
                    number ->
                        new ProducerRecord<>(
                            topic, 0, 1_000L * number, "k" + number % 10, "" + number))
                .toList());
    run.readUntil(
        10,
        pipeline ->
            pipeline.apply(
                KafkaRun.texts(KAFKA.broker())
                    .withTopic(topic)
                    .withStartReadTime(Instant.ofEpochSecond(10))
                    .withoutMetadata()));
    assertThat(read(), is(pairs(10, 20)));
  }

  @Test
  void leavesAbortedTransactionsOut() {
    String topic = KAFKA.topics().create("committed", 1);
    Map<String, Object> settings =
        Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, KAFKA.broker().servers(),
            ProducerConfig.TRANSACTIONAL_ID_CONFIG, SharedBroker.name("transactions"));
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      producer.initTransactions();
      for (String value : List.of("a-committed", "b-aborted", "c-committed")) {
        producer.beginTransaction();
        KafkaTopics.get(producer.send(new ProducerRecord<>(topic, "k", value)));
        if (value.endsWith("aborted")) {
          producer.abortTransaction();
        } else {
          producer.commitTransaction();
        }
      }
    }
    run.readUntil(
        2,
        pipeline ->
            pipeline.apply(
                KafkaRun.texts(KAFKA.broker())
                    .withTopic(topic)
                    .withReadCommitted()
                    .withoutMetadata()));
    assertThat(read(), is(List.of("k=a-committed", "k=c-committed")));
  }

  /** The settings a consumer is made with, as the interceptor below was given them. */
  @Test
  void handsSettingsToTheConsumer() {
    String topic = KAFKA.topics().create("settings", 1);
    KAFKA.topics().sendNumbers(topic, 1, 0, 10);
    run.readUntil(
        10,
        pipeline ->
            pipeline.apply(
                KafkaRun.texts(KAFKA.broker())
                    .withTopic(topic)
                    .withConsumerConfigUpdates(
                        Map.of(
                            "interceptor.classes",
                            SettingsInterceptor.class.getName(),
                            "max.poll.records",
                            3,
                            SettingsInterceptor.OWN,
                            topic))
                    .withoutMetadata()));
    assertThat(SettingsInterceptor.seen(topic), hasItem(startsWith("3 earliest")));
    assertThat(read(), is(pairs(0, 10)));
  }

  /** A read of so many records is bounded, and so a batch. */
  @Test
  void readsSomeRecordsAsABatch() {
    String topic = KAFKA.topics().create("bounded", 2);
    KAFKA.topics().sendNumbers(topic, 2, 0, 100);
    Pipeline pipeline = Pipeline.create(SPARK.options("--streaming=false"));
    pipeline
        .apply(
            KafkaRun.texts(KAFKA.broker()).withTopic(topic).withMaxNumRecords(100).withoutMetadata())
        .apply(run.recorder().as(KafkaRun.READ));
    SparkStructuredStreamingPipelineResult result =
        (SparkStructuredStreamingPipelineResult) pipeline.run();
    assertThat(result.waitUntilFinish(), is(State.DONE));
    assertThat(read(), is(pairs(0, 100)));
  }

  @Test
  void aTopicThatIsNotThereFailsThePipeline() {
    Throwable failure =
        run.harness(
                pipeline ->
                    pipeline.apply(
                        KafkaRun.texts(KAFKA.broker()).withTopic("absent").withoutMetadata()),
                "--maxRestarts=0")
            .runToFailure();
    assertThat(failure.getMessage(), containsString("make sure that provided topics exist"));
  }

  private static List<String> pairs(int first, int last) {
    return IntStream.range(first, last).mapToObj(KafkaReadTest::pair).sorted().toList();
  }

  private static String pair(int number) {
    return "k" + number % 10 + "=" + number;
  }
}
