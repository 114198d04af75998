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
package org.apache.beam.runners.spark.structuredstreaming.kafka.soak;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Collects what the pipeline has written in transactions that were committed. Not thread-safe. */
final class SoakConsumer implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(200);

  private final KafkaConsumer<String, String> consumer;
  private final Map<String, List<Long>> counts = new HashMap<>();
  private long records;

  SoakConsumer(String servers, String topic, int partitions) {
    consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, servers,
                ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed",
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"),
            new StringDeserializer(),
            new StringDeserializer());
    List<TopicPartition> all = new ArrayList<>();
    for (int partition = 0; partition < partitions; partition++) {
      all.add(new TopicPartition(topic, partition));
    }
    consumer.assign(all);
  }

  /** Takes in what there is, or waits a fraction of a second for it.  */
  void poll() {
    for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
      counts
          .computeIfAbsent(record.key(), ignored -> new ArrayList<>())
          .add(Long.valueOf(record.value()));
      records++;
    }
  }

  /** How many records there were so far. */
  long records() {
    return records;
  }

  /** The counts that were written under each key, in the order of their partition. */
  Map<String, List<Long>> counts() {
    return counts;
  }

  @Override
  public void close() {
    consumer.close(Duration.ZERO);
  }
}
