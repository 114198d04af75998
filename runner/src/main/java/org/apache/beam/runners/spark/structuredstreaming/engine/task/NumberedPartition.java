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
package org.apache.beam.runners.spark.structuredstreaming.engine.task;

import org.apache.spark.Partition;

/**
 * A partition that is nothing but its number. Not a record: Spark's {@code Partition} lays down the
 * names of its accessors.
 */
public final class NumberedPartition implements Partition {
  private final int number;

  NumberedPartition(int number) {
    this.number = number;
  }

  /** Partitions 0 to {@code count - 1}. */
  public static Partition[] range(int count) {
    Partition[] partitions = new Partition[count];
    for (int i = 0; i < count; i++) {
      partitions[i] = new NumberedPartition(i);
    }
    return partitions;
  }

  @Override
  public int index() {
    return number;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof NumberedPartition partition && partition.number == number;
  }

  @Override
  public int hashCode() {
    return number;
  }
}
