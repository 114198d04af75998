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
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.beam.sdk.transforms.SerializableFunction;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;

/**
 * A producer whose process dies, once in a test, right behind a transaction that the broker has
 * committed: in an epoch that is not, so that the same records are written again.
 */
final class DyingProducer extends KafkaProducer<String, String> {
  /**
   * The first transaction of a shard is KafkaIO's weak point: what it leaves with the broker is
   * refused as that of another pipeline where the epoch is run again.
   */
  private static final int DEADLY = 3;

  private final Path memory;
  private int committed;

  private DyingProducer(Map<String, Object> settings, Path memory) {
    super(settings);
    this.memory = memory;
  }

  /**
   * Makes producers of which one dies.
   *
   * @param memory a file that is there once it has
   */
  static SerializableFunction<Map<String, Object>, Producer<String, String>> factory(Path memory) {
    String file = memory.toString();
    return settings -> new DyingProducer(settings, Path.of(file));
  }

  @Override
  public void commitTransaction() {
    super.commitTransaction();
    committed++;
    if (committed == DEADLY && isFirst()) {
      Runtime.getRuntime().halt(1);
    }
  }

  private boolean isFirst() {
    try {
      Files.createFile(memory);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
