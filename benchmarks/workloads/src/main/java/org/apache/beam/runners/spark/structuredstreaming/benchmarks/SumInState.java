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
package org.apache.beam.runners.spark.structuredstreaming.benchmarks;

import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.KV;

/** Adds up the values of a key and window in its state, and outputs the sum by a timer at its end. */
final class SumInState extends DoFn<KV<Long, Long>, KV<Long, Long>> {
  @StateId("sum")
  private final StateSpec<ValueState<Long>> sumSpec = StateSpecs.value(VarLongCoder.of());

  @TimerId("end")
  private final TimerSpec endSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

  @ProcessElement
  public void process(
      @Element KV<Long, Long> element,
      BoundedWindow window,
      @StateId("sum") ValueState<Long> sum,
      @TimerId("end") Timer end) {
    Long before = sum.read();
    sum.write((before == null ? 0 : before) + element.getValue());
    end.set(window.maxTimestamp());
  }

  @OnTimer("end")
  public void onEnd(
      @Key Long key, @StateId("sum") ValueState<Long> sum, OutputReceiver<KV<Long, Long>> output) {
    output.output(KV.of(key, sum.read()));
    sum.clear();
  }
}
