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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.BlockOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.PartitionBuffer;
import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * An edge as seen from a task of its sending level: which buffer a key's records go to.
 *
 * <p>What is written once for all of a level counts as one partition here: {@link ShuffleLayout}.
 */
final class EdgeChannel {
  /** Must never change: where a key's state lies depends on it. */
  private static final int HASH_SEED = 42;

  private final Edge edge;
  private final int parallelism;
  private final int firstPartition;
  private final BlockOutput output;

  /**
   * @param parallelism partitions of every level that has a shuffle in front of it
   */
  EdgeChannel(Edge edge, ShuffleLayout layout, int parallelism, BlockOutput output) {
    boolean once = layout.isWrittenOnce(edge);
    this.edge = edge;
    this.parallelism = once ? 1 : parallelism;
    this.firstPartition =
        once ? layout.ofView(edge) : layout.first(edge.fromLevel(), edge.toLevel());
    this.output = output;
  }

  Edge edge() {
    return edge;
  }

  /** Partitions of the receiving level. */
  int parallelism() {
    return parallelism;
  }

  /** The buffer of the partition that owns the key whose encoding is given. */
  PartitionBuffer bufferOfKey(byte[] keyBytes, int length) {
    int hash =
        Murmur3_x86_32.hashUnsafeBytes2(keyBytes, Platform.BYTE_ARRAY_OFFSET, length, HASH_SEED);
    return buffer(Math.floorMod(hash, parallelism));
  }

  /** The buffer of {@code partition}, 0 to parallelism - 1, of the receiving level. */
  PartitionBuffer buffer(int partition) {
    return output.buffer(firstPartition + partition);
  }

  /** Tells every partition of the receiving level the watermark of this edge in this task. */
  void sendWatermark(long watermarkMillis) {
    for (int partition = 0; partition < parallelism; partition++) {
      PartitionBuffer buffer = buffer(partition);
      buffer.begin(edge.index(), true).writeLong(watermarkMillis);
      buffer.end();
    }
  }
}
