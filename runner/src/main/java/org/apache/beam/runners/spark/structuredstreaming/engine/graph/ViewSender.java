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

import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.PartitionBuffer;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.WindowedValue;

/**
 * Sends the panes of a view to every partition of the receiving level, in chunks, so that no pane has
 * to be in memory as a whole.
 *
 * <p>Body of a record: {@code flags (1 byte), window, pane index, id of the pane (16 bytes), number of
 * elements, elements (sized)}. The first chunk of a pane has the flag {@value #FIRST}, the last one
 * {@value #LAST}; the records of a pane follow each other. The id is drawn anew for whatever is sent,
 * so panes with the same id are the same, byte for byte, in whichever attempt.
 */
public final class ViewSender extends EdgeSender {
  public static final int FIRST = 1;
  public static final int LAST = 2;

  private static final int CHUNK_BYTES = 64 << 10;

  private final Coder<Object> elementCoder;
  private final Coder<BoundedWindow> windowCoder;
  private final ByteOutput chunk = new ByteOutput(256);
  private long idHigh;
  private long idLow;

  @SuppressWarnings("unchecked") // elements are untyped between steps
  ViewSender(EdgeChannel channel) {
    super(channel);
    ViewStep step = (ViewStep) channel.edge().target();
    this.elementCoder = (Coder<Object>) step.elementCoder();
    this.windowCoder = step.input().windowCoder();
  }

  @Override
  public void accept(WindowedValue<Object> pane) {
    Iterable<?> elements = (Iterable<?>) ((KV<?, ?>) pane.getValue()).getValue();
    for (BoundedWindow window : pane.getWindows()) {
      send(window, pane.getPaneInfo().getIndex(), elements);
    }
    countElement();
  }

  private void send(BoundedWindow window, long paneIndex, Iterable<?> elements) {
    idHigh = ThreadLocalRandom.current().nextLong();
    idLow = ThreadLocalRandom.current().nextLong();
    chunk.reset();
    int flags = FIRST;
    int count = 0;
    for (Object element : elements) {
      if (chunk.size() >= CHUNK_BYTES) {
        broadcast(flags, window, paneIndex, count);
        flags = 0;
        count = 0;
      }
      encode(element);
      count++;
    }
    broadcast(flags | LAST, window, paneIndex, count);
  }

  private void encode(Object element) {
    try {
      elementCoder.encode(element, chunk);
    } catch (IOException | RuntimeException e) {
      throw failure("encoding an element of the view with " + elementCoder, e);
    }
  }

  private void broadcast(int flags, BoundedWindow window, long paneIndex, int count) {
    try {
      for (int partition = 0; partition < channel().parallelism(); partition++) {
        PartitionBuffer buffer = channel().buffer(partition);
        ByteOutput bytes = buffer.begin(edgeIndex(), false);
        bytes.write(flags);
        buffer.writeWindow(edgeIndex(), window, windowCoder);
        bytes.writeVarLong(paneIndex);
        bytes.writeLong(idHigh);
        bytes.writeLong(idLow);
        bytes.writeVarInt(count);
        bytes.writeSized(chunk);
        buffer.end();
      }
    } catch (IOException | RuntimeException e) {
      throw failure("encoding a window with " + windowCoder, e);
    }
    chunk.reset();
  }
}
