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

import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.RowKeys;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepClock;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * The watermarks of one step in one partition, kept in a row of its state so that neither goes back
 * over a restart.
 *
 * <p>{@code in = max(in, min over senders)}; {@code out = max(out, min(in, earliest hold))}; both
 * begin at the beginning of time. Before {@link #release}, {@code out} is that of the epoch before.
 * How often the end of time was put off is kept with them: see {@link EndOfTimeGate}.
 */
final class StepWatermarks implements StepClock {
  private static final byte[] NO_SUFFIX = new byte[0];

  private final StepRows rows;
  private final byte[] prefix;
  private final long processingTimeMillis;
  private long in;
  private long out;
  private int timesPutOff;
  private boolean changed;

  /**
   * @param kind kind of the row
   * @param processingTimeMillis the epoch's processing time
   */
  StepWatermarks(StepRows rows, byte kind, long processingTimeMillis) {
    this.rows = rows;
    this.prefix = rows.prefix(kind).toByteArray();
    this.processingTimeMillis = processingTimeMillis;
    byte[] stored = rows.get(prefix, NO_SUFFIX);
    if (stored == null) {
      in = BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis();
      out = in;
    } else {
      ByteInput reader = new ByteInput(stored);
      in = reader.readLong();
      out = reader.readLong();
      timesPutOff = reader.readByte();
    }
  }

  /** A number that no step of the runner uses for another row. */
  static byte engineKind(int offset) {
    return (byte) (RowKeys.FIRST_ENGINE_KIND + offset);
  }

  void advanceInput(long watermarkMillis) {
    if (watermarkMillis > in) {
      in = watermarkMillis;
      changed = true;
    }
  }

  /** How often the end of time was heard and not taken. */
  int timesPutOff() {
    return timesPutOff;
  }

  void putOffEndOfTime() {
    timesPutOff++;
    changed = true;
  }

  /** Lets the output watermark go as far as {@code earliestHold} allows, and returns it. */
  long release(long earliestHoldMillis) {
    long free = Math.min(in, earliestHoldMillis);
    if (free > out) {
      out = free;
      changed = true;
    }
    return out;
  }

  void flush() {
    if (changed) {
      byte[] row =
          new ByteOutput().writeLong(in).writeLong(out).writeByte((byte) timesPutOff).toByteArray();
      rows.putUncounted(prefix, NO_SUFFIX, row);
      changed = false;
    }
  }

  @Override
  public long inputWatermark() {
    return in;
  }

  @Override
  public long outputWatermark() {
    return out;
  }

  @Override
  public long processingTime() {
    return processingTimeMillis;
  }

  @Override
  public long synchronizedProcessingTime() {
    return processingTimeMillis;
  }
}
