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

import java.io.IOException;
import org.apache.beam.runners.core.LateDataUtils;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.TaskMetrics;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.Work;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput.WindowReference;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.PaneInfo.Timing;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.WindowedValues;
import org.joda.time.Instant;

/**
 * Gathers or combines by key and window where that gives one pane for each: the default trigger,
 * windows that do not merge. The watermark goes from the beginning to the end of time when the last
 * element has come, so there is one pane, on time, and it is the last one if the window expires by it.
 *
 * <p>A group is a key in a window. It needs memory for one value, or one accumulator, at a time.
 *
 * <p>Body of a sorted record: {@code timestamp (8 bytes), value or accumulator (the rest)}; identity:
 * {@code key (sized), window}.
 */
abstract class OnePaneWork implements RootWork {
  private static final long END_OF_TIME = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();

  private final KeyedStep step;
  private final int root;
  private final GroupSorter sorter;
  private final ElementReceiver output;
  private final TaskMetrics metrics;
  private final Coder<Object> keyCoder;
  private final Coder<BoundedWindow> windowCoder;
  private final TimestampCombiner timestamps;
  private final ByteOutput identity = new ByteOutput(64);
  private final ByteOutput body = new ByteOutput(256);
  private final ByteOutput encodedWindow = new ByteOutput(32);
  private long rowsOut;

  /**
   * @param root the number of the step in its level
   */
  @SuppressWarnings("unchecked") // keys and windows are untyped between steps
  OnePaneWork(
      KeyedStep step,
      int root,
      GroupSorter sorter,
      ElementReceiver output,
      TaskMetrics metrics) {
    this.step = step;
    this.root = root;
    this.sorter = sorter;
    this.output = output;
    this.metrics = metrics;
    this.keyCoder = (Coder<Object>) step.keyCoder();
    this.windowCoder = step.input().windowCoder();
    this.timestamps = step.windowingStrategy().getTimestampCombiner();
  }

  final KeyedStep step() {
    return step;
  }

  @Override
  public final void receive(RecordInput record) throws IOException {
    ByteInput bytes = record.bytes();
    int keyLength = bytes.readLength();
    int keyOffset = bytes.position();
    bytes.seek(keyOffset + keyLength);
    long timestamp = bytes.readLong();
    bytes.readVarLong();
    int windows = bytes.readVarInt();
    // The windows stand before the value, which each of them needs.
    byte[][] ofRecord = new byte[windows][];
    for (int i = 0; i < windows; i++) {
      ofRecord[i] = encoded(record.readWindow(windowCoder));
    }
    int valueLength = bytes.readLength();
    body.reset();
    body.writeLong(timestamp);
    body.write(bytes.array(), bytes.position(), valueLength);
    for (byte[] window : ofRecord) {
      identity.reset();
      identity.writeVarInt(keyLength);
      identity.write(bytes.array(), keyOffset, keyLength);
      identity.write(window);
      sorter.insert(root, identity, body);
    }
    identity.reset();
    body.reset();
    bytes.seek(bytes.position() + valueLength);
  }

  /** The window's bytes, encoded once a block. */
  private byte[] encoded(WindowReference reference) throws IOException {
    byte[] known = (byte[]) reference.attachment();
    if (known == null) {
      encodedWindow.reset();
      windowCoder.encode(reference.window(), encodedWindow);
      known = encodedWindow.toByteArray();
      reference.attach(known);
    }
    return known;
  }

  @Override
  public final Work group(SortedGroups groups) {
    return Work.once(
        () -> {
          try {
            emit(groups);
          } catch (IOException e) {
            throw new StepFailedException(step.fullName(), "reading a group", e);
          }
        });
  }

  /**
   * Reads the group's records.
   *
   * @param times told the timestamp of every record before its value is decoded
   * @param whole whether all of them are to be read on return
   * @return the value of the pane
   */
  abstract Object value(SortedGroups groups, Times times, boolean whole) throws IOException;

  /** Lets go of what the value of the last group still needs of the records. */
  void groupDone() {}

  private void emit(SortedGroups groups) throws IOException {
    ByteInput id = new ByteInput();
    id.reset(groups.identity());
    int keyLength = id.readLength();
    ByteInput keyBytes = new ByteInput();
    keyBytes.reset(id.array(), id.position(), keyLength);
    Object key = keyCoder.decode(keyBytes);
    id.seek(id.position() + keyLength);
    BoundedWindow window = windowCoder.decode(id);
    Times times = new Times(timestamps);
    Object value = value(groups, times, timestamps != TimestampCombiner.END_OF_WINDOW);
    Instant expiry =
        LateDataUtils.garbageCollectionTime(
            window, step.windowingStrategy().getAllowedLateness());
    PaneInfo pane =
        PaneInfo.createPane(true, expiry.getMillis() < END_OF_TIME, Timing.ON_TIME, 0, 0);
    rowsOut++;
    output.accept(
        WindowedValues.of(KV.of(key, value), times.ofPane(window), window, pane));
    groupDone();
  }

  @Override
  public final void finish() {
    metrics.countElements(step.fullName(), step.output(), rowsOut);
  }

  /** The timestamps of the elements of a pane, as far as that of the pane depends on them. */
  static final class Times {
    private final TimestampCombiner combiner;
    private long combined;
    private boolean any;

    Times(TimestampCombiner combiner) {
      this.combiner = combiner;
    }

    void add(long millis) {
      if (!any) {
        combined = millis;
        any = true;
      } else if (combiner == TimestampCombiner.LATEST) {
        combined = Math.max(combined, millis);
      } else {
        combined = Math.min(combined, millis);
      }
    }

    private Instant ofPane(BoundedWindow window) {
      Instant end = window.maxTimestamp();
      return combiner == TimestampCombiner.END_OF_WINDOW || combined > end.getMillis()
          ? end
          : Instant.ofEpochMilli(combined);
    }
  }
}
