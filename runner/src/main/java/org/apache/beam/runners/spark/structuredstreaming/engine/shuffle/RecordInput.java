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
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * Reads the records of blocks: the counterpart of {@link PartitionBuffer}. After {@link #next} the
 * header is read and {@link #bytes()} stands at the record's body, which the receiver of {@link
 * #edge} must read to its end.
 */
public final class RecordInput {
  private final ByteInput bytes = new ByteInput();
  private final List<List<WindowReference>> windowsOfEdge = new ArrayList<>();
  private int edge;
  private boolean control;

  /**
   * @param edges number of edges in the plan
   */
  public RecordInput(int edges) {
    for (int i = 0; i < edges; i++) {
      windowsOfEdge.add(new ArrayList<>());
    }
  }

  /** Goes on with another block; window references of the last one are forgotten. */
  public void reset(Block block) {
    bytes.reset(block.bytes(), 0, block.length());
    forgetWindows();
  }

  /** Goes on with what is left of {@code records}, as with a block. */
  public void reset(ByteInput records) {
    bytes.reset(records.array(), records.position(), records.available());
    forgetWindows();
  }

  private void forgetWindows() {
    for (List<WindowReference> windows : windowsOfEdge) {
      windows.clear();
    }
  }

  /** Moves to the next record of the block; false at the block's end. */
  public boolean next() throws IOException {
    if (bytes.isExhausted()) {
      return false;
    }
    int header = bytes.readVarInt();
    edge = header >>> 1;
    control = (header & 1) != 0;
    return true;
  }

  public int edge() {
    return edge;
  }

  public boolean isControl() {
    return control;
  }

  public ByteInput bytes() {
    return bytes;
  }

  /** Reads a window of the current record's edge. */
  public WindowReference readWindow(Coder<BoundedWindow> coder) throws IOException {
    List<WindowReference> windows = windowsOfEdge.get(edge);
    int number = bytes.readVarInt();
    if (number == windows.size()) {
      windows.add(new WindowReference(coder.decode(bytes)));
    }
    return windows.get(number);
  }

  /**
   * A window of the current block, with a place for what the receiver knows of it, so that it looks
   * that up once a block and not once an element.
   */
  public static final class WindowReference {
    private final BoundedWindow window;
    private Object attachment;

    WindowReference(BoundedWindow window) {
      this.window = window;
    }

    public BoundedWindow window() {
      return window;
    }

    public Object attachment() {
      return attachment;
    }

    public void attach(Object value) {
      attachment = value;
    }
  }
}
