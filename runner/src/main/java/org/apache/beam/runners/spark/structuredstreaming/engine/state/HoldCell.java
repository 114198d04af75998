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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import java.util.Objects;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.sdk.state.ReadableState;
import org.apache.beam.sdk.state.WatermarkHoldState;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.joda.time.Instant;

/** A watermark hold in one row, reported to the step's {@link HoldIndex} when it changes. */
final class HoldCell implements WatermarkHoldState, StateCell {
  private final CellAddress address;
  private final TimestampCombiner combiner;
  private final HoldIndex holds;
  private boolean loaded;
  private boolean changed;
  private Instant hold;

  HoldCell(CellAddress address, TimestampCombiner combiner, HoldIndex holds) {
    this.address = address;
    this.combiner = combiner;
    this.holds = holds;
  }

  @Override
  public void add(Instant value) {
    load();
    set(hold == null ? value : combiner.combine(hold, value));
  }

  @Override
  public Instant read() {
    load();
    return hold;
  }

  @Override
  public void clear() {
    load();
    set(null);
  }

  @Override
  public ReadableState<Boolean> isEmpty() {
    return DeferredRead.of(() -> read() == null);
  }

  @Override
  public TimestampCombiner getTimestampCombiner() {
    return combiner;
  }

  @Override
  public WatermarkHoldState readLater() {
    return this;
  }

  @Override
  public void flush() {
    if (changed) {
      address.setHead(
          hold == null ? null : new ByteOutput(Long.BYTES).writeLong(hold.getMillis()).toByteArray());
      changed = false;
    }
  }

  private void set(Instant newHold) {
    if (!Objects.equals(hold, newHold)) {
      holds.change(millis(hold), millis(newHold));
      hold = newHold;
      changed = true;
    }
  }

  private static Long millis(Instant instant) {
    return instant == null ? null : instant.getMillis();
  }

  private void load() {
    if (!loaded) {
      byte[] bytes = address.head();
      hold = bytes == null ? null : Instant.ofEpochMilli(new ByteInput(bytes).readLong());
      loaded = true;
    }
  }
}
