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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.beam.runners.core.LateDataUtils;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.MaterializedViews.Materialized;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.MaterializedViews.PaneId;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.ViewWindow.Pane;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.HoldIndex;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateRow;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewParts;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.PCollectionView;

/**
 * Keeps a view in one partition of the level that reads it.
 *
 * <p>With {@code in} the watermark of the view's panes, {@code gc(w)} the end of window {@code w} plus
 * the view's allowed lateness, and {@code main(c)} the millis up to which consumer {@code c} may
 * still ask, in ends of main windows:
 *
 * <ul>
 *   <li>a pane replaces what its window had; of several the one with the highest index stays;
 *   <li>a window is ready once it has a pane or {@code gc(w) < in}: then it is empty for good;
 *   <li>a window is collected once {@code end(w) < min over c of main(c) - maximum lookback}: every
 *       main window that maps to it has expired. {@code collected} is one more than the greatest end
 *       collected so far.
 * </ul>
 *
 * <p>Rows: {@code (WINDOWS, end) -> (window): pane}; {@code (CHUNKS, id of a pane) -> (number): count,
 * elements}; {@code (COLLECTED) -> collected}; and an index of the ends. Only what is asked for or
 * changed is read.
 */
final class ViewRunner extends KeyedStepRunner implements ReadableView {
  private static final byte WINDOWS = StepWatermarks.engineKind(0);
  private static final byte CHUNKS = StepWatermarks.engineKind(1);
  private static final byte WATERMARKS = StepWatermarks.engineKind(2);
  private static final byte COLLECTED = StepWatermarks.engineKind(3);
  private static final byte[] NO_SUFFIX = new byte[0];

  private final ViewStep step;
  private final StepRows rows;
  private final StepWatermarks watermarks;
  private final HoldIndex ends;
  private final MaterializedViews materializedViews;
  private final ViewMaterializer materializer;
  private final Coder<BoundedWindow> windowCoder;
  private final byte[] collectedPrefix;
  private final Map<BoundedWindow, ViewWindow> windows = new HashMap<>();
  private final List<LongSupplier> consumers = new ArrayList<>();
  private Pane incoming;
  private Materialized empty;
  private long collected;

  ViewRunner(
      ViewStep step,
      MetricsContainerImpl container,
      StepRows rows,
      MaterializedViews materializedViews,
      long processingTimeMillis) {
    super(step, element -> {}, container);
    this.step = step;
    this.rows = rows;
    this.materializedViews = materializedViews;
    this.watermarks = new StepWatermarks(rows, WATERMARKS, processingTimeMillis);
    this.ends = new HoldIndex(rows);
    this.materializer = new ViewMaterializer(step);
    this.windowCoder = step.input().windowCoder();
    this.collectedPrefix = rows.prefix(COLLECTED).toByteArray();
    byte[] stored = rows.get(collectedPrefix, NO_SUFFIX);
    this.collected = stored == null ? Long.MIN_VALUE : new ByteInput(stored).readLong();
  }

  @Override
  public PCollectionView<?> view() {
    return step.view();
  }

  @Override
  public String fullName() {
    return step.fullName();
  }

  @Override
  public void addConsumer(LongSupplier firstMainEnd) {
    consumers.add(firstMainEnd);
  }

  @Override
  public boolean isReady(BoundedWindow window) {
    return window(window).pane() != null
        || LateDataUtils.garbageCollectionTime(
                    window, step.windowingStrategy().getAllowedLateness())
                .getMillis()
            < watermarks.inputWatermark();
  }

  @Override
  public boolean isCollected(BoundedWindow window) {
    return window.maxTimestamp().getMillis() < collected;
  }

  @Override
  public Object get(BoundedWindow window) {
    ViewWindow known = window(window);
    if (known.pane() == null) {
      if (!isReady(window)) {
        throw new IllegalStateException(
            step.fullName() + ": read in window " + window + ", in which it is not ready");
      }
      if (empty == null) {
        empty = materializer.of(List.of());
      }
      return empty.value();
    }
    if (known.materialized() == null) {
      known.setMaterialized(
          materializedViews.get(known.pane().id(), () -> materializer.of(elements(known.pane()))));
    }
    return known.materialized().value();
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    ViewChunk chunk = ViewChunk.read(record, windowCoder);
    statistics().addRowsIn(chunk.count());
    ViewWindow known = window(chunk.window());
    if (chunk.isFirst()) {
      boolean stale = known.pane() != null && chunk.paneIndex() < known.pane().index();
      incoming =
          stale || isCollected(chunk.window())
              ? null
              : new Pane(chunk.paneIndex(), chunk.pane(), 0, 0);
    }
    if (incoming == null) {
      chunk.skipElements(record);
      return;
    }
    byte[] row =
        new ByteOutput(chunk.length() + 5)
            .writeVarLong(chunk.count())
            .writeBytes(chunk.elements(record))
            .toByteArray();
    rows.insert(chunksPrefix(incoming.id()), chunkSuffix(incoming.chunks()), row);
    incoming = incoming.withChunk(chunk.length());
    if (chunk.isLast()) {
      replace(known, incoming);
    }
  }

  @Override
  public Work endOfElements() {
    return Work.NONE;
  }

  @Override
  public Work advanceWatermark(long watermarkMillis) {
    watermarks.advanceInput(watermarkMillis);
    return Work.NONE;
  }

  @Override
  public long finish() {
    collect();
    long out = watermarks.release(Long.MAX_VALUE);
    watermarks.flush();
    ends.flush();
    rows.flush();
    statistics().setState(rows.rows(), rows.bytes());
    statistics().setWatermarks(watermarks.inputWatermark(), out);
    return out;
  }

  private void replace(ViewWindow window, Pane pane) {
    if (window.pane() == null) {
      ends.add(window.endMillis());
    } else {
      removeChunks(window.pane());
    }
    window.setPane(pane);
    rows.put(windowsPrefix(window.endMillis()), window.encoded(), pane.encode());
  }

  private void removeChunks(Pane pane) {
    byte[] prefix = chunksPrefix(pane.id());
    for (long chunk = 0; chunk < pane.chunks(); chunk++) {
      rows.remove(prefix, chunkSuffix(chunk));
    }
    materializedViews.remove(pane.id());
  }

  /** Removes the windows that no consumer can ask for any more. */
  private void collect() {
    long firstMainEnd = Long.MAX_VALUE;
    for (LongSupplier consumer : consumers) {
      firstMainEnd = Math.min(firstMainEnd, consumer.getAsLong());
    }
    long lookback = ViewParts.windowMapping(step.view()).maximumLookback().getMillis();
    long firstEnd = StepSideInputs.minus(firstMainEnd, lookback);
    boolean any = false;
    for (long end = ends.earliest(); end < firstEnd; end = ends.earliest()) {
      Iterator<StateRow> row = rows.scan(windowsPrefix(end));
      if (!row.hasNext()) {
        throw new IllegalStateException(
            step.fullName() + ": no window ends at " + end + " ms, though the index says so");
      }
      while (row.hasNext()) {
        StateRow window = row.next();
        removeChunks(Pane.decode(window.value()));
        rows.remove(windowsPrefix(end), window.suffix());
        ends.release(end);
      }
      collected = Math.max(collected, end + 1);
      any = true;
    }
    if (any) {
      rows.put(collectedPrefix, NO_SUFFIX, new ByteOutput().writeLong(collected).toByteArray());
    }
  }

  private Iterable<Object> elements(Pane pane) {
    byte[] prefix = chunksPrefix(pane.id());
    List<Iterable<Object>> chunks = new ArrayList<>();
    for (long chunk = 0; chunk < pane.chunks(); chunk++) {
      byte[] row = rows.get(prefix, chunkSuffix(chunk));
      if (row == null) {
        throw new IllegalStateException(
            step.fullName() + ": chunk " + chunk + " of " + pane + " is missing in the state");
      }
      ByteInput input = new ByteInput(row);
      int count = input.readVarInt();
      chunks.add(PaneElements.chunk(materializer.elementCoder(), row, input.position(), count));
    }
    return PaneElements.of(chunks, pane.bytes());
  }

  private ViewWindow window(BoundedWindow window) {
    ViewWindow known = windows.get(window);
    if (known == null) {
      byte[] encoded = Encoding.window(step.fullName(), windowCoder, window);
      long end = window.maxTimestamp().getMillis();
      byte[] pane = rows.get(windowsPrefix(end), encoded);
      known = new ViewWindow(encoded, end, pane == null ? null : Pane.decode(pane));
      windows.put(window, known);
    }
    return known;
  }

  private byte[] windowsPrefix(long end) {
    return rows.prefix(WINDOWS).writeLong(end).toByteArray();
  }

  private byte[] chunksPrefix(PaneId id) {
    return rows.prefix(CHUNKS).writeLong(id.high()).writeLong(id.low()).toByteArray();
  }

  private static byte[] chunkSuffix(long chunk) {
    return new ByteOutput().writeVarLong(chunk).toByteArray();
  }
}
