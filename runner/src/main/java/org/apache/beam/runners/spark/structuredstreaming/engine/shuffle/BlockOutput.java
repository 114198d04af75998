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
package org.apache.beam.runners.spark.structuredstreaming.engine.shuffle;

import java.util.ArrayDeque;
import scala.Tuple2;

/**
 * Everything a task sends to the levels above it, as blocks by reduce partition. Written to by the
 * task's steps, drained by Spark's shuffle writer on the same thread.
 *
 * <p>Order: records of one sender for one partition are read in the order they were written.
 *
 * <p>Memory: blocks under construction take about {@value #BUFFER_BYTES} bytes together, whatever
 * the number of partitions; closed blocks that wait, as when one element makes very many, go to disk
 * past {@value #MAX_READY_BYTES} bytes; a drained block's array is used again.
 */
public final class BlockOutput {
  private static final int BUFFER_BYTES = 8 << 20;
  private static final int MIN_BLOCK_BYTES = 1 << 10;
  private static final int MAX_BLOCK_BYTES = 32 << 10;
  private static final int MAX_SPARE_ARRAYS = 8;
  private static final long MAX_READY_BYTES = 32L << 20;

  private final PartitionBuffer[] buffers;
  private final int edges;
  private final int blockBytes;
  private final ArrayDeque<Tuple2<Object, Object>> ready = new ArrayDeque<>();
  private final ArrayDeque<byte[]> spareArrays = new ArrayDeque<>();
  private final BlockSpill spill = new BlockSpill();
  private long readyBytes;
  private Block drained;

  /**
   * @param partitions number of reduce partitions of this task's shuffle
   * @param edges number of edges in the plan
   */
  public BlockOutput(int partitions, int edges) {
    this.buffers = new PartitionBuffer[partitions];
    this.edges = edges;
    this.blockBytes =
        Math.max(MIN_BLOCK_BYTES, Math.min(MAX_BLOCK_BYTES, BUFFER_BYTES / Math.max(1, partitions)));
  }

  /** The block under construction for {@code partition}. */
  public PartitionBuffer buffer(int partition) {
    PartitionBuffer buffer = buffers[partition];
    if (buffer == null) {
      buffer = new PartitionBuffer(this, partition, edges);
      buffers[partition] = buffer;
    }
    return buffer;
  }

  /** Whether a closed block waits to be drained. */
  public boolean hasReady() {
    return !ready.isEmpty() || !spill.isEmpty();
  }

  /**
   * The next closed block with its partition. The block is valid until the next call: the shuffle
   * writer has serialized it by then.
   */
  public Tuple2<Object, Object> poll() {
    if (drained != null && spareArrays.size() < MAX_SPARE_ARRAYS) {
      spareArrays.add(drained.bytes());
    }
    if (ready.isEmpty()) {
      drained = null;
      return spill.poll();
    }
    Tuple2<Object, Object> next = ready.remove();
    Block block = (Block) next._2();
    readyBytes -= block.length();
    drained = block.bytes().length <= 2 * MAX_BLOCK_BYTES ? block : null;
    return next;
  }

  /** Closes all blocks: nothing more is written. */
  public void closeAll() {
    for (PartitionBuffer buffer : buffers) {
      if (buffer != null && buffer.bytes().size() > 0) {
        close(buffer);
      }
    }
  }

  /** Forgets everything: for the next epoch, or after a failure. */
  public void reset() {
    ready.clear();
    readyBytes = 0;
    spill.close();
    drained = null;
    for (PartitionBuffer buffer : buffers) {
      if (buffer != null) {
        buffer.close(buffer.bytes().array());
      }
    }
  }

  void recordEnded(PartitionBuffer buffer) {
    if (buffer.bytes().size() >= blockBytes) {
      close(buffer);
    }
  }

  private void close(PartitionBuffer buffer) {
    int length = buffer.bytes().size();
    byte[] spare = spareArrays.poll();
    byte[] bytes = buffer.close(spare == null ? new byte[Math.min(blockBytes * 2, length + 64)] : spare);
    Block block = new Block(bytes, length);
    // Behind spilled blocks everything is spilled, or blocks of a partition would change places.
    if (readyBytes + length > MAX_READY_BYTES || !spill.isEmpty()) {
      spill.add(buffer.partition(), block);
    } else {
      ready.add(new Tuple2<>(buffer.partition(), block));
      readyBytes += length;
    }
  }
}
