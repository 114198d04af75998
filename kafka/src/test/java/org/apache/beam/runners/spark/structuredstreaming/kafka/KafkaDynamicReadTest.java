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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.io.kafka.KafkaRecord;
import org.apache.beam.sdk.io.kafka.KafkaSourceDescriptor;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.SerializableFunction;
import org.apache.beam.sdk.transforms.errorhandling.BadRecord;
import org.apache.beam.sdk.transforms.errorhandling.ErrorHandler;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What KafkaIO has in splittable DoFns alone, without any experiment given by the user: partitions that
 * appear while the pipeline runs, an end by time, and reads of descriptors.
 */
class KafkaDynamicReadTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");
  @RegisterExtension static final SharedBroker KAFKA = new SharedBroker();

  private static final String BAD = "bad";

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

  /** Refuses what does not begin with a digit, as deserializers do. */
  public static final class DigitsDeserializer implements Deserializer<String> {
    @Override
    public String deserialize(String topic, byte[] data) {
      String text = new String(data, UTF_8);
      if (!Character.isDigit(text.charAt(0))) {
        throw new SerializationException("no digit");
      }
      return text;
    }
  }

  /** Records whether the deserializer was the reason, and the record's offset. */
  private static final class BadRecords
      extends PTransform<PCollection<BadRecord>, PCollection<String>> {
    private final transient Recorder recorder;

    BadRecords(Recorder recorder) {
      this.recorder = recorder;
    }

    @Override
    public PCollection<String> expand(PCollection<BadRecord> records) {
      return records
          .apply(
              "Text",
              MapElements.into(TypeDescriptors.strings())
                  .via(
                      bad ->
                          bad.getFailure().getException().contains("no digit")
                              + " "
                              + offset(bad.getRecord().getHumanReadableJsonRecord())))
          .apply(recorder.as(BAD));
    }

    /** KafkaIO has no coder for what it could not make an element of, and tells of it by its text. */
    private static String offset(String record) {
      Matcher offset = Pattern.compile("\\boffset = (\\d+)").matcher(record);
      return offset.find() ? offset.group(1) : record;
    }
  }

  @Test
  void handsRecordsThatCannotBeReadToTheirHandler() {
    String topic = KAFKA.topics().create("bad", 2);
    RestartHarness harness =
        run.harness(
            pipeline -> {
              PCollection<String> read;
              try (ErrorHandler.BadRecordErrorHandler<PCollection<String>> handler =
                  pipeline.registerBadRecordErrorHandler(new BadRecords(run.recorder()))) {
                read =
                    pipeline
                        .apply(
                            KafkaRun.texts(KAFKA.broker())
                                .withTopic(topic)
                                .withConsumerPollingTimeout(1)
                                .withValueDeserializer(DigitsDeserializer.class)
                                .withBadRecordErrorHandler(handler))
                        .apply(values());
              }
              return read;
            });
    for (int round = 0; round < 2; round++) {
      int first = round * 10;
      KAFKA.topics().sendNumbers(topic, 2, first, first + 5);
      KAFKA.topics().send(List.of(new ProducerRecord<>(topic, 0, "k", "bad" + round)));
      KAFKA.topics().sendNumbers(topic, 2, first + 5, first + 10);
      int bad = round + 1;
      run.runUntil(
          "all records",
          () -> read().size() >= first + 10 && run.recorder().seen(BAD).size() >= bad,
          harness);
    }
    assertThat(read(), is(KafkaTopics.numbers(20)));
    assertThat(run.recorder().values(BAD), is(List.of("true 3", "true 9")));
  }

  /** Stops a partition once there is a file of its number, and then makes another. */
  private static final class StopFn implements SerializableFunction<TopicPartition, Boolean> {
    private final String directory;

    StopFn(Path directory) {
      this.directory = directory.toString();
    }

    @Override
    public Boolean apply(TopicPartition partition) {
      boolean stops = Files.exists(Path.of(directory, "stop-" + partition.partition()));
      if (stops) {
        try {
          Files.writeString(Path.of(directory, "stopped-" + partition.partition()), "");
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
      return stops;
    }
  }

  /** When both of two partitions are, there is nothing more to come. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void stopsReadingPartitionsThatAreToBeStopped(boolean restarted) throws IOException {
    String topic = KAFKA.topics().create("stopped", 2);
    KAFKA.topics().sendNumbers(topic, 2, 0, 10);
    RestartHarness harness =
        run.harness(
            pipeline ->
                pipeline
                    .apply(
                        KafkaRun.texts(KAFKA.broker())
                            .withTopic(topic)
                            .withConsumerPollingTimeout(1)
                            .withCheckStopReadingFn(new StopFn(directory)))
                    .apply(values()));
    SparkStructuredStreamingPipelineResult result = harness.start();
    try {
      run.recorder().await(KafkaRun.READ, 10);
      Files.createFile(directory.resolve("stop-1"));
      Await.until(
          "the end of a partition", () -> Files.exists(directory.resolve("stopped-1")), () -> "none");
      if (restarted) {
        result.cancel();
        result = harness.start();
      }
      KAFKA.topics().sendNumbers(topic, 2, 10, 20);
      run.recorder().await(KafkaRun.READ, 15);
      Files.createFile(directory.resolve("stop-0"));
      RestartHarness.finish(result);
    } finally {
      result.cancel();
    }
    assertThat(
        read(),
        is(
            IntStream.range(0, 20)
                .filter(number -> number < 10 || number % 2 == 0)
                .mapToObj(Integer::toString)
                .sorted()
                .toList()));
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
