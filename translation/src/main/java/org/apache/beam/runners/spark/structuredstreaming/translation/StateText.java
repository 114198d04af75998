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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.CombiningState;
import org.apache.beam.sdk.state.MapState;
import org.apache.beam.sdk.state.MultimapState;
import org.apache.beam.sdk.state.OrderedListState;
import org.apache.beam.sdk.state.SetState;
import org.apache.beam.sdk.state.StateBinder;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.state.WatermarkHoldState;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.CombineWithContext.CombineFnWithContext;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.reflect.DoFnSignature;
import org.apache.beam.sdk.transforms.reflect.DoFnSignatures;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;

/** The state and timers that a DoFn declares, as text that is the same in every JVM. */
final class StateText {
  private StateText() {}

  /** Every state cell by its id, with its kind and coders. */
  static String states(DoFn<?, ?> doFn) {
    DoFnSignature signature = DoFnSignatures.signatureForDoFn(doFn);
    Map<String, String> cells = new TreeMap<>();
    signature
        .stateDeclarations()
        .forEach(
            (id, declaration) ->
                cells.put(id, cell(DoFnSignatures.getStateSpecOrThrow(declaration, doFn))));
    return join(cells);
  }

  /** Every timer and timer family by its id, with its time domain. */
  static String timers(DoFn<?, ?> doFn) {
    DoFnSignature signature = DoFnSignatures.signatureForDoFn(doFn);
    Map<String, String> timers = new TreeMap<>();
    signature
        .timerDeclarations()
        .forEach(
            (id, declaration) ->
                timers.put(
                    id,
                    DoFnSignatures.getTimerSpecOrThrow(declaration, doFn)
                        .getTimeDomain()
                        .toString()));
    signature
        .timerFamilyDeclarations()
        .forEach(
            (id, declaration) ->
                timers.put(
                    id,
                    DoFnSignatures.getTimerFamilySpecOrThrow(declaration, doFn)
                        .getTimeDomain()
                        .toString()));
    return join(timers);
  }

  private static String join(Map<String, String> byId) {
    return byId.entrySet().stream()
        .map(entry -> entry.getKey() + " " + entry.getValue())
        .collect(Collectors.joining("; "));
  }

  private static String cell(StateSpec<?> spec) {
    Cell cell = new Cell();
    spec.bind("", cell);
    return cell.text;
  }

  /** Takes note of what it is asked to bind, and binds nothing. */
  private static final class Cell implements StateBinder {
    private String text = "";

    private void note(String kind, Coder<?>... coders) {
      StringBuilder all = new StringBuilder(kind);
      for (Coder<?> coder : coders) {
        all.append(' ').append(coder == null ? "no coder" : PlanText.coder(coder));
      }
      text = all.toString();
    }

    @Override
    public <T> ValueState<T> bindValue(
        String id, StateSpec<ValueState<T>> spec, Coder<T> coder) {
      note("value", coder);
      return null;
    }

    @Override
    public <T> BagState<T> bindBag(String id, StateSpec<BagState<T>> spec, Coder<T> elemCoder) {
      note("bag", elemCoder);
      return null;
    }

    @Override
    public <T> SetState<T> bindSet(String id, StateSpec<SetState<T>> spec, Coder<T> elemCoder) {
      note("set", elemCoder);
      return null;
    }

    @Override
    public <K, V> MapState<K, V> bindMap(
        String id, StateSpec<MapState<K, V>> spec, Coder<K> mapKeyCoder, Coder<V> mapValueCoder) {
      note("map", mapKeyCoder, mapValueCoder);
      return null;
    }

    @Override
    public <K, V> MultimapState<K, V> bindMultimap(
        String id, StateSpec<MultimapState<K, V>> spec, Coder<K> keyCoder, Coder<V> valueCoder) {
      note("multimap", keyCoder, valueCoder);
      return null;
    }

    @Override
    public <T> OrderedListState<T> bindOrderedList(
        String id, StateSpec<OrderedListState<T>> spec, Coder<T> elemCoder) {
      note("ordered list", elemCoder);
      return null;
    }

    @Override
    public <I, A, O> CombiningState<I, A, O> bindCombining(
        String id,
        StateSpec<CombiningState<I, A, O>> spec,
        Coder<A> accumCoder,
        CombineFn<I, A, O> combineFn) {
      note("combining", accumCoder);
      return null;
    }

    @Override
    public <I, A, O> CombiningState<I, A, O> bindCombiningWithContext(
        String id,
        StateSpec<CombiningState<I, A, O>> spec,
        Coder<A> accumCoder,
        CombineFnWithContext<I, A, O> combineFn) {
      note("combining", accumCoder);
      return null;
    }

    @Override
    public WatermarkHoldState bindWatermark(
        String id, StateSpec<WatermarkHoldState> spec, TimestampCombiner timestampCombiner) {
      note("watermark hold " + timestampCombiner);
      return null;
    }
  }
}
