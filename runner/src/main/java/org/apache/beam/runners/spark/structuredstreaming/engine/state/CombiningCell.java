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

import java.util.Arrays;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.state.CombiningState;
import org.apache.beam.sdk.state.ReadableState;
import org.apache.beam.sdk.transforms.Combine.CombineFn;

/**
 * An accumulator in one row. It belongs to the cell, which decodes it once, changes it in memory
 * and encodes it when flushed. The combine function may change an accumulator in place, so what is
 * extracted comes from a merge into a new one and later additions cannot reach it.
 */
final class CombiningCell<InputT, AccumT, OutputT>
    implements CombiningState<InputT, AccumT, OutputT>, StateCell {
  private final CellAddress address;
  private final Coder<AccumT> accumulatorCoder;
  private final CombineFn<InputT, AccumT, OutputT> combineFn;
  private boolean loaded;
  private boolean changed;
  private boolean present;
  private AccumT accumulator;

  CombiningCell(
      CellAddress address,
      Coder<AccumT> accumulatorCoder,
      CombineFn<InputT, AccumT, OutputT> combineFn) {
    this.address = address;
    this.accumulatorCoder = accumulatorCoder;
    this.combineFn = combineFn;
  }

  @Override
  public void add(InputT value) {
    load();
    accumulator =
        combineFn.addInput(present ? accumulator : combineFn.createAccumulator(), value);
    present = true;
    changed = true;
  }

  @Override
  public void addAccum(AccumT other) {
    load();
    AccumT target = present ? accumulator : combineFn.createAccumulator();
    accumulator = combineFn.mergeAccumulators(Arrays.asList(target, other));
    present = true;
    changed = true;
  }

  @Override
  public AccumT getAccum() {
    load();
    return present ? accumulator : combineFn.createAccumulator();
  }

  @Override
  public AccumT mergeAccumulators(Iterable<AccumT> accumulators) {
    return combineFn.mergeAccumulators(accumulators);
  }

  @Override
  public OutputT read() {
    load();
    AccumT result = combineFn.createAccumulator();
    if (present) {
      result = combineFn.mergeAccumulators(Arrays.asList(result, accumulator));
    }
    return combineFn.extractOutput(result);
  }

  @Override
  public ReadableState<Boolean> isEmpty() {
    return DeferredRead.of(
        () -> {
          load();
          return !present;
        });
  }

  @Override
  public void clear() {
    // Whoever asked for the accumulator has it now; the cell starts from a new one.
    accumulator = null;
    present = false;
    loaded = true;
    changed = true;
  }

  @Override
  public CombiningState<InputT, AccumT, OutputT> readLater() {
    return this;
  }

  @Override
  public void flush() {
    if (changed) {
      byte[] bytes = present ? address.encode(accumulatorCoder, accumulator) : null;
      address.setHead(bytes);
      address.hold(bytes == null ? 0 : bytes.length);
      changed = false;
    }
  }

  @Override
  public void release() {
    flush();
    address.hold(0);
  }

  private void load() {
    if (!loaded) {
      byte[] bytes = address.head();
      present = bytes != null;
      address.hold(present ? bytes.length : 0);
      accumulator = present ? address.decode(accumulatorCoder, bytes) : null;
      loaded = true;
    }
  }
}
