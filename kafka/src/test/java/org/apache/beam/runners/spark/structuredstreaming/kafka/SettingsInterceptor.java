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

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Sees the settings that consumers of this JVM are made with. */
public final class SettingsInterceptor implements ConsumerInterceptor<byte[], byte[]> {
  /** A setting that Kafka knows nothing of: whose test this consumer is. */
  static final String OWN = "beam.test.name";

  private static final Map<String, List<String>> SEEN = new ConcurrentHashMap<>();

  /** What consumers of a test were told of {@code max.poll.records} and {@code auto.offset.reset}. */
  static List<String> seen(String test) {
    return SEEN.getOrDefault(test, List.of());
  }

  @Override
  public void configure(Map<String, ?> settings) {
    SEEN.computeIfAbsent(String.valueOf(settings.get(OWN)), ignored -> new CopyOnWriteArrayList<>())
        .add(settings.get("max.poll.records") + " " + settings.get("auto.offset.reset"));
  }

  @Override
  public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
    return records;
  }

  @Override
  public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

  @Override
  public void close() {}
}
