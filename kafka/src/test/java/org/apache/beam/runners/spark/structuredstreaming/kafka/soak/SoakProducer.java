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
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Writes records with ids from 0 in a thread of its own, each of them once, whatever the broker does
 * meanwhile, and remembers what it has written.
 */
final class SoakProducer implements AutoCloseable {
  private static final int KEYS = 7;
  private static final int OUTAGE_MILLIS = 600_000;

  private final String topic;
  private final int partitions;
  private final long pauseNanos;
  private final KafkaProducer<String, String> producer;
  private final List<Sent> sent = new ArrayList<>();
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private final Thread thread = new Thread(this::produce, "soak producer");

  private volatile boolean stopped;
  private volatile int count;

  /** A record that was written. */
  record Sent(String id, String key, long timestampMillis) {}

  private SoakProducer(String servers, String topic, int partitions, int recordsPerSecond) {
    this.topic = topic;
    this.partitions = partitions;
    this.pauseNanos = Duration.ofSeconds(1).toNanos() / recordsPerSecond;
    this.producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers,
                ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true,
                ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1,
                ProducerConfig.MAX_BLOCK_MS_CONFIG, OUTAGE_MILLIS,
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, OUTAGE_MILLIS),
            new StringSerializer(),
            new StringSerializer());
  }

  static SoakProducer start(
      String servers, String topic, int partitions, int recordsPerSecond) {
    SoakProducer started = new SoakProducer(servers, topic, partitions, recordsPerSecond);
    started.thread.start();
    return started;
  }

  /** How many records were produced so far, which is the next one's id. */
  int count() {
    return count;
  }

  /**
   * Stops and waits until the broker has everything.
   *
   * @return all records, in the order of their ids
   */
  List<Sent> finish() throws InterruptedException {
    stopped = true;
    thread.join();
    producer.flush();
    if (failure.get() != null) {
      throw new IllegalStateException("The producer of the soak has failed", failure.get());
    }
    return List.copyOf(sent);
  }

  @SuppressWarnings("FutureReturnValueIgnored") // The callback is told of what the future has.
  private void produce() {
    try {
      while (!stopped && failure.get() == null) {
        int number = sent.size();
        Sent next = new Sent(Integer.toString(number), "k" + number % KEYS, System.currentTimeMillis());
        sent.add(next);
        count = sent.size();
        producer.send(
            new ProducerRecord<>(
                topic, number % partitions, next.timestampMillis(), next.key(), next.id()),
            (metadata, e) -> failure.compareAndSet(null, e));
        LockSupport.parkNanos(pauseNanos);
      }
    } catch (RuntimeException e) {
      failure.compareAndSet(null, e);
    }
  }

  @Override
  public void close() {
    stopped = true;
    producer.close(Duration.ZERO);
  }
}
