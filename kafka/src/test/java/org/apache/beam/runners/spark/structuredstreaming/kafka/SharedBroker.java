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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The broker that all test classes use, one after the other: started for the first of them and closed
 * behind the last one. Registered as a static extension.
 */
public final class SharedBroker implements BeforeAllCallback {
  private static final AtomicInteger NAMES = new AtomicInteger();

  private Held held;

  @Override
  public void beforeAll(ExtensionContext context) {
    held =
        context
            .getRoot()
            .getStore(ExtensionContext.Namespace.create(SharedBroker.class))
            .getOrComputeIfAbsent(Held.class, ignored -> Held.start(), Held.class);
  }

  public KafkaBroker broker() {
    return held.broker;
  }

  public KafkaTopics topics() {
    return held.topics;
  }

  /** A name for a topic or a group that no other test has. */
  public static String name(String hint) {
    return hint + "-" + NAMES.incrementAndGet();
  }

  /** What is closed behind the last test class. */
  private static final class Held implements AutoCloseable {
    private final Path directory;
    private final KafkaBroker broker;
    private final KafkaTopics topics;

    private Held(Path directory, KafkaBroker broker) {
      this.directory = directory;
      this.broker = broker;
      this.topics = new KafkaTopics(broker);
    }

    static Held start() {
      try {
        Path directory = Files.createTempDirectory("kafka-broker");
        return new Held(directory, KafkaBroker.start(directory));
      } catch (IOException e) {
        throw new IllegalStateException("No broker", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("Interrupted while the broker starts", e);
      }
    }

    @Override
    public void close() throws IOException {
      topics.close();
      broker.close();
      List<Path> paths;
      try (Stream<Path> walked = Files.walk(directory)) {
        paths = walked.sorted(Comparator.reverseOrder()).toList();
      }
      for (Path path : paths) {
        Files.delete(path);
      }
    }
  }
}
