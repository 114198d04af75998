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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ShippedObject;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.spark.Partition;

/**
 * What a task reads: one split of one source. It is kept as bytes so that Spark's own
 * serializer, whichever is set, does not meet user code.
 */
public final class ReadPartition implements Partition {
  private final int index;
  private final int sourceIndex;
  private final byte[] split;

  /**
   * @param index among the partitions of its level
   * @param sourceIndex of the plan's sources
   */
  public ReadPartition(int index, int sourceIndex, UnboundedSource<?, ?> split) {
    this.index = index;
    this.sourceIndex = sourceIndex;
    this.split = SerializableUtils.serializeToByteArray(split);
  }

  @Override
  public int index() {
    return index;
  }

  int sourceIndex() {
    return sourceIndex;
  }

  UnboundedSource<?, ?> decode(ReadStep source) {
    return (UnboundedSource<?, ?>)
        ShippedObject.decode(split, source.fullName() + ": a split of " + source.source());
  }

  // Of its class in Scala, a Partition is equal to itself alone.
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return index;
  }
}
