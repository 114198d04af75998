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
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.io.kafka.KafkaRecord;
import org.apache.beam.sdk.io.kafka.TimestampPolicy;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.PaneInfo.Timing;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Timestamps and watermarks are those of KafkaIO's timestamp policies. */
class KafkaTimeTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");
  @RegisterExtension static final SharedBroker KAFKA = new SharedBroker();

  @TempDir Path directory;
  private KafkaRun run;

  @BeforeEach
  void setUp() {
    run = new KafkaRun(SPARK, directory);
  }

  /**
   * Two of three partitions have but one record, the first: they are idle and do not hold the watermark
   * back, and that of the one that has caught up passes its last window. The policy takes a partition
   * for idle only once it has had a record with a time behind that of the epoch's first millisecond.
   */
  @Test
  void createTimeClosesWindowsThoughPartitionsAreIdle() {
    String topic = KAFKA.topics().create("create-time", 3);
    KAFKA
        .topics()
        .send(
            IntStream.of(1, 2)
                .mapToObj(partition -> new ProducerRecord<>(topic, partition, 1_000L, "k", "1"))
                .toList());
    sendSeconds(topic, 2, 60);
    run.readUntil(
        6,
        pipeline ->
            counts(
                pipeline,
                KafkaRun.texts(KAFKA.broker()).withTopic(topic).withCreateTime(Duration.ZERO)));
    assertThat(windows(), is(windows(0, 6)));
  }

  @Test
  void logAppendTimeIsTheBrokers() {
    String topic =
        KAFKA.topics().create("append-time", 1, Map.of("message.timestamp.type", "LogAppendTime"));
    KAFKA.topics().sendNumbers(topic, 1, 0, 20);
    run.readUntil(
        20,
        pipeline ->
            pipeline.apply(
                KafkaRun.texts(KAFKA.broker()).withTopic(topic).withLogAppendTime().withoutMetadata()));
    assertThat(
        timestamps(),
        is(KAFKA.topics().read(topic).stream().map(ConsumerRecord::timestamp).sorted().toList()));
  }

  @Test
  void processingTimeIsThatOfTheRead() {
    String topic = KAFKA.topics().create("processing-time", 1);
    sendSeconds(topic, 0, 20);
    long before = System.currentTimeMillis();
    run.readUntil(
        20,
        pipeline ->
            pipeline.apply(
                KafkaRun.texts(KAFKA.broker())
                    .withTopic(topic)
                    .withProcessingTime()
                    .withoutMetadata()));
    assertThat(
        timestamps(),
        everyItem(
            allOf(
                greaterThanOrEqualTo(before), lessThanOrEqualTo(System.currentTimeMillis()))));
  }

  /** A policy whose watermark is the last record's time closes a window when the next one begins. */
  @Test
  void aPolicyOfTheUsersGoesOnFromItsWatermark() {
    String topic = KAFKA.topics().create("own-time", 1);
    RestartHarness harness =
        run.harness(
            pipeline ->
                counts(
                    pipeline,
                    KafkaRun.texts(KAFKA.broker())
                        .withTopic(topic)
                        .withTimestampPolicyFactory(
                            (partition, previous) -> new SecondsPolicy(previous))));
    sendSeconds(topic, 0, 16);
    run.runUntil("the first window", () -> !windows().isEmpty(), harness);
    assertThat(windows(), is(windows(0, 1)));
    sendSeconds(topic, 16, 26);
    run.runUntil("the second window", () -> windows().size() > 1, harness);
    assertThat(windows(), is(windows(0, 2)));
    assertThat(
        SecondsPolicy.PREVIOUS, hasItem(Optional.of(Instant.ofEpochSecond(15))));
  }

  /** Takes the value for seconds. */
  private static final class SecondsPolicy extends TimestampPolicy<String, String> {
    static final List<Optional<Instant>> PREVIOUS = new CopyOnWriteArrayList<>();

    private Instant watermark;

    SecondsPolicy(Optional<Instant> previous) {
      PREVIOUS.add(previous);
      watermark = previous.orElse(Instant.ofEpochSecond(-1));
    }

    @Override
    public Instant getTimestampForRecord(
        PartitionContext context, KafkaRecord<String, String> record) {
      watermark = Instant.ofEpochSecond(Long.parseLong(record.getKV().getValue()));
      return watermark;
    }

    @Override
    public Instant getWatermark(PartitionContext context) {
      return watermark;
    }
  }

  /** One record for each second, which is its create time and its value. */
  private static void sendSeconds(String topic, int first, int last) {
    KAFKA
        .topics()
        .send(
            IntStream.range(first, last)
                .mapToObj(
                    second -> new ProducerRecord<>(topic, 0, 1_000L * second, "k", "" + second))
                .toList());
  }

  private static PCollection<KV<String, Long>> counts(
      Pipeline pipeline, KafkaIO.Read<String, String> read) {
    return pipeline
        .apply(read.withoutMetadata())
        .apply(Window.into(FixedWindows.of(Duration.standardSeconds(10))))
        .apply(Count.perKey());
  }

  private List<String> windows() {
    return run.recorder().seen(KafkaRun.READ).stream()
        .map(pane -> pane.windowStart() / 1_000 + " " + pane.value() + " " + pane.timing())
        .sorted()
        .toList();
  }

  /** Windows of ten seconds with a record for each. */
  private static List<String> windows(int first, int last) {
    return IntStream.range(first, last)
        .mapToObj(window -> 10 * window + " k=10 " + Timing.ON_TIME)
        .sorted()
        .toList();
  }

  private List<Long> timestamps() {
    return run.recorder().seen(KafkaRun.READ).stream()
        .map(Recorded::timestampMillis)
        .sorted()
        .toList();
  }
}
