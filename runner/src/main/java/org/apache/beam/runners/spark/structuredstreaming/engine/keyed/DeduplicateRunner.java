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
import java.util.List;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateRow;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.DeduplicateStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.values.WindowedValues;
import org.joda.time.Instant;

/**
 * Passes the first record of each id and drops the others, for as long as the id is remembered.
 *
 * <p>With {@code now} the epoch's processing time, {@code W = max(1 s, retention / 10)}, and {@code
 * slot(t)} the end of the interval of length {@code W} that {@code t} lies in:
 *
 * <ul>
 *   <li>an id is remembered in the epoch iff {@code now < slot(time it was seen last) + retention}:
 *       for at least the retention, and at most {@code W} longer;
 *   <li>a record is dropped iff its id is remembered, from an earlier epoch or from a record before
 *       it in this one; either way the id has then been seen in this epoch;
 *   <li>{@code out = in}: nothing is held back.
 * </ul>
 *
 * <p>Rows: {@code (SEEN) -> (id): slot}; {@code (SLOT, slot) -> (id)}; {@code (SLOTS) -> (slot)}. An
 * id that is remembered has one row of each of the first two. A slot has a row iff it has ids. So an
 * epoch costs what it has records and what it forgets, each forgotten once; there are never more than
 * a dozen slots.
 */
final class DeduplicateRunner extends KeyedStepRunner {
  private static final byte SEEN = StepWatermarks.engineKind(0);
  private static final byte SLOT = StepWatermarks.engineKind(1);
  private static final byte SLOTS = StepWatermarks.engineKind(2);
  private static final long SLOTS_PER_RETENTION = 10;
  private static final long LEAST_SLOT_MILLIS = 1000;
  private static final byte[] NOTHING = new byte[0];

  private final StepRows rows;
  private final Coder<Object> valueCoder;
  private final long processingTimeMillis;
  private final long retentionMillis;
  private final byte[] seenPrefix;
  private final byte[] slotsPrefix;
  private final byte[] slotValue;
  private final byte[] slotPrefix;
  private boolean slotKnown;
  private long watermark = Long.MIN_VALUE;

  /**
   * @param retentionMillis for how long an id is remembered after it was seen last
   */
  @SuppressWarnings("unchecked") // elements are untyped between steps
  DeduplicateRunner(
      DeduplicateStep step,
      ElementReceiver output,
      MetricsContainerImpl container,
      StepRows rows,
      long processingTimeMillis,
      long retentionMillis) {
    super(step, output, container);
    this.rows = rows;
    this.valueCoder = (Coder<Object>) step.valueCoder();
    this.processingTimeMillis = processingTimeMillis;
    this.retentionMillis = retentionMillis;
    this.seenPrefix = rows.prefix(SEEN).toByteArray();
    this.slotsPrefix = rows.prefix(SLOTS).toByteArray();
    long width = Math.max(LEAST_SLOT_MILLIS, retentionMillis / SLOTS_PER_RETENTION);
    long slot = (Math.floorDiv(processingTimeMillis, width) + 1) * width;
    this.slotValue = slotBytes(slot);
    this.slotPrefix = prefixOf(slot);
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    statistics().addRowsIn(1);
    ByteInput bytes = record.bytes();
    byte[] id = bytes.readBytes(bytes.readLength());
    Instant timestamp = Instant.ofEpochMilli(bytes.readLong());
    Object value = valueCoder.decode(bytes);
    if (!see(id)) {
      emit(WindowedValues.timestampedValueInGlobalWindow(value, timestamp));
    }
  }

  @Override
  public Work endOfElements() {
    List<Long> forgotten = new ArrayList<>();
    rows.forEach(
        slotsPrefix,
        row -> {
          long slot = new ByteInput(row.suffix()).readLong();
          if (!isRemembered(slot)) {
            forgotten.add(slot);
          }
        });
    return Work.sequence(forgotten.stream().map(this::forget).iterator());
  }

  @Override
  public Work advanceWatermark(long watermarkMillis) {
    watermark = watermarkMillis;
    return Work.NONE;
  }

  @Override
  public long finish() {
    rows.flush();
    statistics().setState(rows.rows(), rows.bytes());
    statistics().setWatermarks(watermark, watermark);
    return watermark;
  }

  /** Takes note of an id; whether it was remembered. */
  private boolean see(byte[] id) {
    byte[] seen = rows.get(seenPrefix, id);
    if (seen == null) {
      rows.insert(seenPrefix, id, slotValue);
      remember(id);
      return false;
    }
    long slot = new ByteInput(seen).readLong();
    if (slot != new ByteInput(slotValue).readLong()) {
      rows.put(seenPrefix, id, slotValue);
      rows.remove(prefixOf(slot), id);
      remember(id);
    }
    return isRemembered(slot);
  }

  /** Files an id that is not in this epoch's slot yet. */
  private void remember(byte[] id) {
    if (!slotKnown) {
      rows.put(slotsPrefix, slotValue, NOTHING);
      slotKnown = true;
    }
    rows.insert(slotPrefix, id, NOTHING);
  }

  private Work forget(long slot) {
    return Work.sequence(
        Work.each(() -> rows.drain(prefixOf(slot)), this::forgetId),
        Work.once(() -> rows.remove(slotsPrefix, slotBytes(slot))));
  }

  private void forgetId(StateRow ofSlot) {
    rows.remove(seenPrefix, ofSlot.suffix());
  }

  private boolean isRemembered(long slot) {
    return processingTimeMillis < slot + retentionMillis;
  }

  private byte[] prefixOf(long slot) {
    return rows.prefix(SLOT).writeLong(slot).toByteArray();
  }

  private static byte[] slotBytes(long slot) {
    return new ByteOutput(Long.BYTES).writeLong(slot).toByteArray();
  }
}
