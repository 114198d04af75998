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
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Redistribute;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.values.PCollection;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * With {@code commitOffsetsInFinalize}, the offsets of a group are those of the epochs that are
 * committed. A mark of KafkaIO commits through the reader it was taken of, and one that was decoded
 * does nothing: so these fail if anything but the live mark is finalized.
 */
class KafkaOffsetsTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");
  @RegisterExtension static final SharedBroker KAFKA = new SharedBroker();

  /** KafkaIO commits what was finalized within a second; this is how long nothing may be. */
  private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(2_500);

  @TempDir Path directory;

  /** The epoch in question has been read, and its marks are taken: it waits behind a shuffle. */
  @Test
  void committedOffsetsAreThoseOfCommittedEpochs() {
    String topic = KAFKA.topics().create("offsets", 2);
    String group = SharedBroker.name("group");
    WaitPoints points = new WaitPoints(directory.resolve("points"));
    KafkaRun run = new KafkaRun(SPARK, directory);
    SparkStructuredStreamingPipelineResult result =
        run.harness(
                pipeline ->
                    read(pipeline, topic, group)
                        .apply(Redistribute.arbitrarily())
                        .apply(points.on("wait", Set.of("100"))))
            .start();
    try {
      KAFKA.topics().sendNumbers(topic, 2, 0, 100);
      awaitCommitted(group, topic, Map.of(0, 50L, 1, 50L));
      KAFKA.topics().send(List.of(new ProducerRecord<>(topic, 0, "k", "100")));
      Await.until("the record that waits", () -> points.isReached("100"), () -> result.getState());
      KAFKA.topics().sendNumbers(topic, 2, 101, 120);
      assertThatNothingIsCommittedBeyond(group, topic, Map.of(0, 50L, 1, 50L));
      points.open("100");
      awaitCommitted(group, topic, Map.of(0, 60L, 1, 60L));
    } finally {
      result.cancel();
    }
    assertThat(run.recorder().values(KafkaRun.READ), is(KafkaTopics.numbers(120)));
  }

  /** A pipeline without a checkpoint of its own goes on where the group stands. */
  @Test
  void aNewPipelineBeginsWhereTheGroupStands() {
    String topic = KAFKA.topics().create("handover", 2);
    String group = SharedBroker.name("group");
    KAFKA.topics().sendNumbers(topic, 2, 0, 100);
    KafkaRun first = new KafkaRun(SPARK, directory.resolve("first"));
    first.runUntil(
        "the commit of all offsets",
        () -> KAFKA.topics().committed(group, topic).equals(Map.of(0, 50L, 1, 50L)),
        first.harness(pipeline -> read(pipeline, topic, group)));
    KAFKA.topics().sendNumbers(topic, 2, 100, 120);
    KafkaRun second = new KafkaRun(SPARK, directory.resolve("second"));
    second.readUntil(20, pipeline -> read(pipeline, topic, group));
    assertThat(
        second.recorder().values(KafkaRun.READ),
        is(IntStream.range(100, 120).mapToObj(String::valueOf).toList()));
  }

  private static PCollection<String> read(Pipeline pipeline, String topic, String group) {
    return pipeline
        .apply(
            KafkaRun.texts(KAFKA.broker())
                .withTopic(topic)
                .withConsumerConfigUpdates(Map.of("group.id", group))
                .commitOffsetsInFinalize()
                .withoutMetadata())
        .apply(Values.create());
  }

  private static void awaitCommitted(String group, String topic, Map<Integer, Long> offsets) {
    Await.until(
        "the offsets " + offsets,
        () -> KAFKA.topics().committed(group, topic).equals(offsets),
        () -> KAFKA.topics().committed(group, topic));
  }

  private static void assertThatNothingIsCommittedBeyond(
      String group, String topic, Map<Integer, Long> offsets) {
    long end = System.nanoTime() + QUIET_NANOS;
    Await.until(
        "the end of the quiet time",
        () -> {
          assertThat(KAFKA.topics().committed(group, topic), is(offsets));
          return System.nanoTime() > end;
        },
        () -> offsets);
  }
}
