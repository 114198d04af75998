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

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * The block under construction for one reduce partition. A record is written by {@link #begin}, then
 * to {@link #bytes()}, then {@link #end}.
 *
 * <p>A window is written once a block and edge, at its first use, and named by its number behind
 * that: {@code number of known windows} means that a window follows and gets this number.
 */
public final class PartitionBuffer {
  private final BlockOutput owner;
  private final int partition;
  private final ByteOutput bytes = new ByteOutput(256);
  private final WindowNumbers[] windowsOfEdge;

  PartitionBuffer(BlockOutput owner, int partition, int edges) {
    this.owner = owner;
    this.partition = partition;
    this.windowsOfEdge = new WindowNumbers[edges];
  }

  int partition() {
    return partition;
  }

  /** Starts a record with its header: which edge it is for, and whether it is a control record. */
  public ByteOutput begin(int edge, boolean control) {
    bytes.writeVarInt(edge << 1 | (control ? 1 : 0));
    return bytes;
  }

  /** The block's bytes, to which a record's body is written. */
  public ByteOutput bytes() {
    return bytes;
  }

  /** Ends a record; the block may be closed and handed over by this. */
  public void end() {
    owner.recordEnded(this);
  }

  /** Writes a window of {@code edge} in full or by its number. */
  public void writeWindow(int edge, BoundedWindow window, Coder<BoundedWindow> coder)
      throws IOException {
    WindowNumbers numbers = windowsOfEdge[edge];
    if (numbers == null) {
      numbers = new WindowNumbers();
      windowsOfEdge[edge] = numbers;
    }
    int known = numbers.size();
    int number = numbers.numberOf(window);
    bytes.writeVarInt(number);
    if (number == known) {
      coder.encode(window, bytes);
    }
  }

  /** Gives the block's array away and starts a new block in {@code replacement}. */
  byte[] close(byte[] replacement) {
    for (WindowNumbers numbers : windowsOfEdge) {
      if (numbers != null) {
        numbers.clear();
      }
    }
    return bytes.swap(replacement);
  }

  /** Numbers windows in the order of their first use; elements mostly come in runs of one window. */
  private static final class WindowNumbers {
    private final Map<BoundedWindow, Integer> numbers = new HashMap<>();
    private BoundedWindow last;
    private int lastNumber;

    int size() {
      return numbers.size();
    }

    int numberOf(BoundedWindow window) {
      if (window == last) {
        return lastNumber;
      }
      Integer number = numbers.putIfAbsent(window, numbers.size());
      lastNumber = number == null ? numbers.size() - 1 : number;
      last = window;
      return lastNumber;
    }

    void clear() {
      numbers.clear();
      last = null;
    }
  }
}
