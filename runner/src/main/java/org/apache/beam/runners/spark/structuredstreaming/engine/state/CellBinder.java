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

import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.CombiningState;
import org.apache.beam.sdk.state.MapState;
import org.apache.beam.sdk.state.MultimapState;
import org.apache.beam.sdk.state.OrderedListState;
import org.apache.beam.sdk.state.SetState;
import org.apache.beam.sdk.state.StateBinder;
import org.apache.beam.sdk.state.StateContext;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.state.WatermarkHoldState;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.CombineWithContext.CombineFnWithContext;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.util.CombineFnUtil;

/** Makes the cell that a state spec asks for at one address. */
final class CellBinder implements StateBinder {
  private final CellAddress address;
  private final HoldIndex holds;
  private final StateContext<?> context;

  CellBinder(CellAddress address, HoldIndex holds, StateContext<?> context) {
    this.address = address;
    this.holds = holds;
    this.context = context;
  }

  @Override
  public <T> ValueState<T> bindValue(String id, StateSpec<ValueState<T>> spec, Coder<T> coder) {
    return new ValueCell<>(address, coder);
  }

  @Override
  public <T> BagState<T> bindBag(String id, StateSpec<BagState<T>> spec, Coder<T> elemCoder) {
    return new BagCell<>(address, elemCoder);
  }

  @Override
  public <T> SetState<T> bindSet(String id, StateSpec<SetState<T>> spec, Coder<T> elemCoder) {
    return new SetCell<>(address, elemCoder);
  }

  @Override
  public <KeyT, ValueT> MapState<KeyT, ValueT> bindMap(
      String id,
      StateSpec<MapState<KeyT, ValueT>> spec,
      Coder<KeyT> mapKeyCoder,
      Coder<ValueT> mapValueCoder) {
    return new MapCell<>(address, mapKeyCoder, mapValueCoder);
  }

  @Override
  public <T> OrderedListState<T> bindOrderedList(
      String id, StateSpec<OrderedListState<T>> spec, Coder<T> elemCoder) {
    return new OrderedListCell<>(address, elemCoder);
  }

  @Override
  public <KeyT, ValueT> MultimapState<KeyT, ValueT> bindMultimap(
      String id,
      StateSpec<MultimapState<KeyT, ValueT>> spec,
      Coder<KeyT> keyCoder,
      Coder<ValueT> valueCoder) {
    return new MultimapCell<>(address, keyCoder, valueCoder);
  }

  @Override
  public <InputT, AccumT, OutputT> CombiningState<InputT, AccumT, OutputT> bindCombining(
      String id,
      StateSpec<CombiningState<InputT, AccumT, OutputT>> spec,
      Coder<AccumT> accumCoder,
      CombineFn<InputT, AccumT, OutputT> combineFn) {
    return new CombiningCell<>(address, accumCoder, combineFn);
  }

  @Override
  public <InputT, AccumT, OutputT> CombiningState<InputT, AccumT, OutputT> bindCombiningWithContext(
      String id,
      StateSpec<CombiningState<InputT, AccumT, OutputT>> spec,
      Coder<AccumT> accumCoder,
      CombineFnWithContext<InputT, AccumT, OutputT> combineFn) {
    return new CombiningCell<>(address, accumCoder, CombineFnUtil.bindContext(combineFn, context));
  }

  @Override
  public WatermarkHoldState bindWatermark(
      String id, StateSpec<WatermarkHoldState> spec, TimestampCombiner timestampCombiner) {
    return new HoldCell(address, timestampCombiner, holds);
  }
}
