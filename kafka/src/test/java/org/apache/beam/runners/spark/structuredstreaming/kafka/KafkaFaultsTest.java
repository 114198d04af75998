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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Executors, the broker and the query die in mid-run, on executors that are processes of their own:
 * every record is counted once.
 */
class KafkaFaultsTest {
  @RegisterExtension static final TestSpark SPARK = LocalCluster.of(2);
  @RegisterExtension static final SharedBroker KAFKA = new SharedBroker();

  private static final int COUNT = 600;
  private static final String[] OPTIONS = {"--maxRecordsPerMicroBatch=60", "--maxRestarts=5"};

  @TempDir Path directory;
  private KafkaRun run;

  @BeforeEach
  void setUp() {
    run = new KafkaRun(SPARK, directory);
  }

  private List<String> counted() {
    return run.recorder().values(KafkaRun.READ);
  }

  private void awaitCounted(int count) {
    run.recorder().await(KafkaRun.READ, count);
  }

  @Test
  void restartsFromTheCheckpointLoseAndRepeatNothing() {
    String topic = KAFKA.topics().create("restarts", 3);
    KAFKA.topics().sendNumbers(topic, 3, 0, COUNT);
    for (int stop : new int[] {100, 300, COUNT}) {
      run.readUntil(stop, pipeline -> counts(pipeline, topic), OPTIONS);
    }
    assertThat(counted(), is(once(COUNT)));
  }

  @Test
  void anExecutorThatIsKilledLosesAndRepeatsNothingAndOffsetsAreCommitted() {
    String topic = KAFKA.topics().create("killed", 2);
    String group = SharedBroker.name("group");
    WaitPoints points = new WaitPoints(directory.resolve("points"));
    LocalCluster.awaitExecutors(SPARK, 2);
    KAFKA.topics().sendNumbers(topic, 2, 0, COUNT);
    SparkStructuredStreamingPipelineResult result =
        run.harness(
                pipeline ->
                    pipeline
                        .apply(
                            KafkaRun.texts(KAFKA.broker())
                                .withTopic(topic)
                                .withConsumerConfigUpdates(Map.of("group.id", group))
                                .commitOffsetsInFinalize()
                                .withoutMetadata())
                        .apply(Values.create())
                        .apply(points.on("victim", Set.of("250")))
                        .apply(ParDo.of(new CountFn.KeyFn()))
                        .apply(ParDo.of(new CountFn())),
                OPTIONS)
            .start();
    try {
      Await.until("the victim", () -> points.isReached("250"), result::getState);
      LocalCluster.kill(points.processOf("250"));
      awaitCounted(COUNT);
      Await.until(
          "the commit of all offsets",
          () -> KAFKA.topics().committed(group, topic).equals(Map.of(0, 300L, 1, 300L)),
          () -> KAFKA.topics().committed(group, topic));
    } finally {
      result.cancel();
    }
    assertThat(counted(), is(once(COUNT)));
  }

  @Test
  void theBrokerIsKilledWhileAPipelineReadsAndWrites() throws IOException, InterruptedException {
    String input = KAFKA.topics().create("broker-in", 2);
    String output = KAFKA.topics().create("broker-out", 2);
    String group = SharedBroker.name("sink");
    KAFKA.topics().sendNumbers(input, 2, 0, COUNT / 2);
    SparkStructuredStreamingPipelineResult result =
        run.harness(
                pipeline -> {
                  PCollection<KV<String, Long>> counts = counts(pipeline, input);
                  counts
                      .apply(ParDo.of(new CountFn.TextFn()))
                      .apply(write().withTopic(output).withEOS(2, group));
                  return counts;
                },
                OPTIONS)
            .start();
    try {
      awaitCounted(100);
      KAFKA.broker().kill();
      KAFKA.broker().startAgain();
      KAFKA.topics().sendNumbers(input, 2, COUNT / 2, COUNT - 100);
      awaitCounted(COUNT / 2 + 50);
      KAFKA.broker().stop();
      KAFKA.broker().startAgain();
      KAFKA.topics().sendNumbers(input, 2, COUNT - 100, COUNT);
      awaitCounted(COUNT);
      awaitWritten(output, COUNT);
    } finally {
      result.cancel();
    }
    assertThat(counted(), is(once(COUNT)));
    assertThat(KAFKA.topics().values(output), is(once(COUNT)));
  }

  /** The broker has the transaction, and the epoch that has written it is run again. */
  @Test
  void theExactlyOnceSinkDoesNotRepeatATransactionOfAnEpochThatIsRunAgain() {
    String input = KAFKA.topics().create("again-in", 2);
    String output = KAFKA.topics().create("again-out", 2);
    String group = SharedBroker.name("sink");
    Path death = directory.resolve("death");
    KAFKA.topics().sendNumbers(input, 2, 0, COUNT);
    SparkStructuredStreamingPipelineResult result =
        run.harness(
                pipeline -> {
                  PCollection<KV<String, Long>> counts = counts(pipeline, input);
                  counts
                      .apply(ParDo.of(new CountFn.TextFn()))
                      .apply(
                          write()
                              .withTopic(output)
                              .withProducerFactoryFn(DyingProducer.factory(death))
                              .withEOS(2, group));
                  return counts;
                },
                OPTIONS)
            .start();
    try {
      awaitWritten(output, COUNT);
    } finally {
      result.cancel();
    }
    assertThat("an executor has died", Files.exists(death), is(true));
    assertThat(KAFKA.topics().values(output), is(once(COUNT)));
  }

  private static void awaitWritten(String topic, int count) {
    Await.until(
        count + " records of " + topic,
        () -> KAFKA.topics().read(topic).size() >= count,
        () -> KAFKA.topics().read(topic).size());
  }

  private static PCollection<KV<String, Long>> counts(Pipeline pipeline, String topic) {
    return pipeline
        .apply(KafkaRun.texts(KAFKA.broker()).withTopic(topic).withoutMetadata())
        .apply(Values.create())
        .apply(ParDo.of(new CountFn.KeyFn()))
        .apply(ParDo.of(new CountFn()));
  }

  private static KafkaIO.Write<String, String> write() {
    return KafkaIO.<String, String>write()
        .withBootstrapServers(KAFKA.broker().servers())
        .withKeySerializer(StringSerializer.class)
        .withValueSerializer(StringSerializer.class);
  }

  private static List<String> once(int count) {
    return IntStream.range(0, count).mapToObj(number -> number + "=1").sorted().toList();
  }
}
