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

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Topics of a broker as a test sees them: past the pipeline, by clients of its own. */
public final class KafkaTopics implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(200);

  private final String servers;
  private final Admin admin;
  private final KafkaProducer<String, String> producer;

  /** Topics of a broker that runs. */
  public KafkaTopics(KafkaBroker broker) {
    this.servers = broker.servers();
    this.admin = broker.admin();
    this.producer =
        new KafkaProducer<>(producerSettings(), new StringSerializer(), new StringSerializer());
  }

  /** Settings of a producer of this broker's. */
  Map<String, Object> producerSettings() {
    return Map.of(
        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers,
        ProducerConfig.LINGER_MS_CONFIG, 1,
        // Of several in flight, one may be refused and the next one taken by a broker that has just started.
        ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1);
  }

  /** Makes a topic under a name of its own. */
  public String create(String hint, int partitions) {
    return create(hint, partitions, Map.of());
  }

  /** As {@link #create(String, int)} with settings of the topic's. */
  public String create(String hint, int partitions, Map<String, String> settings) {
    String topic = SharedBroker.name(hint);
    NewTopic wanted =
        new NewTopic(topic, Optional.of(partitions), Optional.empty()).configs(settings);
    get(admin.createTopics(List.of(wanted)).all());
    awaitLeaders(topic, partitions);
    return topic;
  }

  /** Gives a topic this many partitions in all. */
  public void extend(String topic, int partitions) {
    get(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions))).all());
    awaitLeaders(topic, partitions);
  }

  /**
   * Waits for what only leaders answer: a producer that is faster may never get its order right. A
   * broker that has made a topic may not know it itself yet, and says so.
   */
  private void awaitLeaders(String topic, int partitions) {
    Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
    for (int partition = 0; partition < partitions; partition++) {
      ends.put(new TopicPartition(topic, partition), OffsetSpec.latest());
    }
    Await.until("leaders of " + topic, () -> haveLeaders(ends), ends::keySet);
  }

  private boolean haveLeaders(Map<TopicPartition, OffsetSpec> ends) {
    try {
      return admin.listOffsets(ends).all().get().size() == ends.size();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        return false;
      }
      throw refused(e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Writes records and waits until the broker has them. */
  public void send(List<ProducerRecord<String, String>> records) {
    List<Future<RecordMetadata>> sent = records.stream().map(producer::send).toList();
    producer.flush();
    sent.forEach(KafkaTopics::get);
  }

  /**
   * Writes records {@code first} to {@code last - 1} of a topic round its partitions, with the number
   * as value and key {@code k0} to {@code k9}.
   *
   * @param partitions how many the topic has
   */
  public void sendNumbers(String topic, int partitions, int first, int last) {
    send(
        IntStream.range(first, last)
            .mapToObj(
                number ->
                    new ProducerRecord<>(
                        topic, number % partitions, "k" + number % 10, Integer.toString(number)))
            .toList());
  }

  /** Everything a topic has, aborted transactions left out, by partition and offset. */
  public List<ConsumerRecord<String, String>> read(String topic) {
    Map<String, Object> settings =
        Map.of(
            ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, servers,
            ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed",
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    List<ConsumerRecord<String, String>> found = new ArrayList<>();
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic).stream()
              .map(each -> new TopicPartition(topic, each.partition()))
              .toList();
      consumer.assign(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
        consumer.poll(POLL).forEach(found::add);
      }
    }
    return found;
  }

  /** The values of {@link #read}, sorted. */
  public List<String> values(String topic) {
    return read(topic).stream().map(ConsumerRecord::value).sorted().toList();
  }

  /** The offsets that a group has committed of a topic, by partition. */
  public Map<Integer, Long> committed(String group, String topic) {
    Map<TopicPartition, OffsetAndMetadata> offsets =
        get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
    Map<Integer, Long> found = new TreeMap<>();
    offsets.forEach(
        (partition, offset) -> {
          if (partition.topic().equals(topic)) {
            found.put(partition.partition(), offset.offset());
          }
        });
    return found;
  }

  /** The numbers from 0 as {@link #sendNumbers} has them, sorted as texts. */
  public static List<String> numbers(int count) {
    return Stream.iterate(0, number -> number + 1)
        .limit(count)
        .map(String::valueOf)
        .sorted()
        .toList();
  }

  /** The bytes of a text, as the serializer of texts makes them. */
  public static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  static <T> T get(Future<T> future) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw refused(e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static IllegalStateException refused(ExecutionException e) {
    return new IllegalStateException("The broker refuses: " + e.getCause(), e);
  }

  private static IllegalStateException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new IllegalStateException("Interrupted while the broker answers", e);
  }

  @Override
  public void close() {
    producer.close(Duration.ZERO);
    admin.close(Duration.ZERO);
  }
}
