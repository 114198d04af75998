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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.MaterializedViews;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.MaterializedViews.Materialized;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.MaterializedViews.PaneId;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.PaneElements;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.ViewChunk;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.ViewMaterializer;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.Block;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.Coder.NonDeterministicException;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.KV;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Product2;
import scala.collection.Iterator;

/**
 * A view, complete, as an executor keeps it for all its tasks: of every window the last pane, as chunks
 * of encoded elements. What a pane is made into is kept as long as memory allows.
 *
 * <pre>
 * chunks in memory: the first that were read, up to the limit in bytes; the others are in a file
 * a pane that is decoded, or held as a map: of no more bytes than the limit; others are read from their
 *     chunks, or looked up on disk
 * </pre>
 *
 * <p>Filled by one task, then read by any number at a time.
 */
final class StoredView implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(StoredView.class);

  private final ViewStep step;
  private final ViewMaterializer materializer;
  private final MaterializedViews materialized;
  private final Coder<BoundedWindow> windowCoder;
  private final long memoryBytes;
  private final Map<BoundedWindow, Pane> panes = new HashMap<>();
  private final RecordInput record;
  private Pane incoming;
  private long bytesInMemory;
  private ChunkFile file;
  private Materialized empty;

  /** What is known of the pane of a window. */
  private static final class Pane {
    private final long index;
    private final PaneId id;
    private final List<Iterable<Object>> chunks = new ArrayList<>();
    private long bytes;
    private DiskMultimap multimap;

    Pane(long index, PaneId id) {
      this.index = index;
      this.id = id;
    }
  }

  /**
   * @param edges number of edges in the plan
   * @param memoryBytes how much of it is in memory at most, encoded
   */
  StoredView(ViewStep step, MaterializedViews materialized, int edges, long memoryBytes) {
    this.step = step;
    this.materializer = new ViewMaterializer(step);
    this.materialized = materialized;
    this.windowCoder = step.input().windowCoder();
    this.memoryBytes = memoryBytes;
    this.record = new RecordInput(edges);
  }

  /** Adds what one edge has brought. */
  void read(Iterator<Product2<Object, Object>> blocks) throws IOException {
    while (blocks.hasNext()) {
      record.reset((Block) blocks.next()._2());
      while (record.next()) {
        readChunk();
      }
    }
  }

  private void readChunk() throws IOException {
    ViewChunk chunk = ViewChunk.read(record, windowCoder);
    if (chunk.isFirst()) {
      Pane known = panes.get(chunk.window());
      boolean stale = known != null && chunk.paneIndex() < known.index;
      incoming = stale ? null : new Pane(chunk.paneIndex(), chunk.pane());
    }
    if (incoming == null) {
      chunk.skipElements(record);
      return;
    }
    incoming.chunks.add(stored(chunk.elements(record), chunk.count()));
    incoming.bytes += chunk.length();
    if (chunk.isLast()) {
      panes.put(chunk.window(), incoming);
    }
  }

  private Iterable<Object> stored(byte[] bytes, int count) throws IOException {
    if (bytesInMemory + bytes.length <= memoryBytes) {
      bytesInMemory += bytes.length;
      return PaneElements.chunk(materializer.elementCoder(), bytes, 0, count);
    }
    if (file == null) {
      file = new ChunkFile();
    }
    ChunkFile.Chunk written = file.append(bytes);
    return () ->
        PaneElements.chunk(materializer.elementCoder(), written.read(), 0, count).iterator();
  }

  /** What user code reads in a window: what its pane was made into, or what one without elements is. */
  Object get(BoundedWindow window) {
    Pane pane = panes.get(window);
    return pane == null
        ? empty().value()
        : materialized.get(pane.id, () -> materialize(pane)).value();
  }

  /** Decoded for good only where all of it has room in memory. */
  private Materialized materialize(Pane pane) {
    if (pane.bytes <= memoryBytes) {
      return materializer.of(PaneElements.of(pane.chunks, pane.bytes));
    }
    Iterable<Object> elements = PaneElements.encoded(pane.chunks);
    return materializer.isOfMultimap() && keysAreKnownByTheirBytes()
        ? materializer.of(multimap(pane, elements))
        : materializer.of(elements);
  }

  private boolean keysAreKnownByTheirBytes() {
    try {
      materializer.pairCoder().getKeyCoder().verifyDeterministic();
      return true;
    } catch (NonDeterministicException e) {
      LOG.warn(
          "{}: the view takes {} bytes and more of memory, as its keys cannot be looked up on disk: {}",
          step.fullName(),
          memoryBytes,
          e.getMessage());
      return false;
    }
  }

  @SuppressWarnings("unchecked") // elements are untyped between steps
  private synchronized DiskMultimap multimap(Pane pane, Iterable<Object> elements) {
    if (pane.multimap == null) {
      pane.multimap =
          DiskMultimap.of(
              materializer.pairCoder(), (Iterable<KV<Object, Object>>) (Iterable<?>) elements);
    }
    return pane.multimap;
  }

  private synchronized Materialized empty() {
    if (empty == null) {
      empty = materializer.of(List.of());
    }
    return empty;
  }

  @Override
  public synchronized void close() throws IOException {
    for (Pane pane : panes.values()) {
      if (pane.multimap != null) {
        pane.multimap.close();
      }
    }
    if (file != null) {
      file.close();
    }
  }
}
