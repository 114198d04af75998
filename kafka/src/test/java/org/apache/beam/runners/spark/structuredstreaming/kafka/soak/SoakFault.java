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

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * A fault that happened.
 *
 * @param atMillis when
 * @param recoveredMillis how long it took until a record that was produced behind it was counted
 */
record SoakFault(Kind kind, long atMillis, long recoveredMillis) {
  /** What dies. */
  enum Kind {
    /** An executor; Spark starts another. */
    EXECUTOR,
    /** The driver, and its executors with it; it is started again with the same checkpoint. */
    DRIVER,
    /** The broker; it is started again with the same data. */
    BROKER
  }

  /** Kinds in an order by chance in which each comes as often as the others. */
  static final class Order {
    private final Random random;
    private final List<Kind> left = new ArrayList<>();

    Order(Random random) {
      this.random = random;
    }

    Kind next() {
      if (left.isEmpty()) {
        left.addAll(List.of(Kind.values()));
        Collections.shuffle(left, random);
      }
      return left.remove(0);
    }
  }
}
