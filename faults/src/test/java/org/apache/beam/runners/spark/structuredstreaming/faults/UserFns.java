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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.io.IOException;
import java.util.Map;
import org.apache.beam.sdk.io.range.OffsetRange;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollectionView;

/** The DoFns of the suite's pipelines. */
final class UserFns {
  private UserFns() {}

  /** Passes the point {@code element <pipeline> epoch=<e> partition=<p> before} the shuffle. */
  static final class PointFn extends DoFn<KV<String, Long>, KV<String, Long>> {
    private final String pipeline;

    PointFn(String pipeline) {
      this.pipeline = pipeline;
    }

    @ProcessElement
    public void process(@Element KV<String, Long> element, OutputReceiver<KV<String, Long>> out)
        throws IOException {
      FaultPoints.pass("element " + pipeline + " " + FaultPoints.task() + " before");
      out.output(element);
    }
  }

  /** Makes a line of a result, at the point {@code element <pipeline> epoch=<e> partition=<p> behind}. */
  static final class TextFn extends DoFn<KV<String, KV<Long, Long>>, String> {
    private final String pipeline;

    TextFn(String pipeline) {
      this.pipeline = pipeline;
    }

    @ProcessElement
    public void process(
        @Element KV<String, KV<Long, Long>> result, BoundedWindow window, OutputReceiver<String> out)
        throws IOException {
      FaultPoints.pass("element " + pipeline + " " + FaultPoints.task() + " behind");
      IntervalWindow interval = (IntervalWindow) window;
      String id =
          result.getKey() + "/" + interval.start().getMillis() + "-" + interval.end().getMillis();
      out.output(Result.text(pipeline + "/" + id, result.getValue()));
    }
  }

  /** Adds up in state, and outputs when the watermark passes the window's end. */
  static final class StatefulTotalsFn extends DoFn<KV<String, Long>, KV<String, KV<Long, Long>>> {
    @StateId("total")
    private final StateSpec<ValueState<KV<Long, Long>>> totalSpec = StateSpecs.value(Totals.coder());

    @TimerId("end")
    private final TimerSpec endSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @ProcessElement
    public void process(
        @Element KV<String, Long> element,
        BoundedWindow window,
        @StateId("total") ValueState<KV<Long, Long>> total,
        @TimerId("end") Timer end) {
      KV<Long, Long> before = total.read();
      total.write(Totals.plus(before == null ? KV.of(0L, 0L) : before, element.getValue()));
      end.set(window.maxTimestamp());
    }

    @OnTimer("end")
    public void onEnd(
        @Key String key,
        @StateId("total") ValueState<KV<Long, Long>> total,
        OutputReceiver<KV<String, KV<Long, Long>>> out) {
      out.output(KV.of(key, total.read()));
    }
  }

  /** Adds up a group. */
  static final class GroupTotalsFn
      extends DoFn<KV<String, Iterable<Long>>, KV<String, KV<Long, Long>>> {
    @ProcessElement
    public void process(
        @Element KV<String, Iterable<Long>> group, OutputReceiver<KV<String, KV<Long, Long>>> out) {
      KV<Long, Long> total = KV.of(0L, 0L);
      for (long number : group.getValue()) {
        total = Totals.plus(total, number);
      }
      out.output(KV.of(group.getKey(), total));
    }
  }

  /** Adds to a number what the view has for its key. */
  static final class LookUpFn extends DoFn<KV<String, Long>, KV<String, Long>> {
    private final PCollectionView<Map<String, KV<Long, Long>>> view;

    LookUpFn(PCollectionView<Map<String, KV<Long, Long>>> view) {
      this.view = view;
    }

    @ProcessElement
    public void process(ProcessContext context) {
      KV<String, Long> element = context.element();
      KV<Long, Long> found = context.sideInput(view).get(element.getKey());
      long more = found == null ? 0 : found.getValue();
      context.output(KV.of(element.getKey(), element.getValue() + more));
    }
  }

  /** Outputs a number as one to three, one in a call; the rest waits. */
  @DoFn.UnboundedPerElement
  static final class PartsFn extends DoFn<KV<String, Long>, KV<String, Long>> {
    static long parts(long number) {
      return number % 3 + 1;
    }

    @GetInitialRestriction
    public OffsetRange restriction(@Element KV<String, Long> element) {
      return new OffsetRange(0, parts(element.getValue()));
    }

    @ProcessElement
    public ProcessContinuation process(
        @Element KV<String, Long> element,
        RestrictionTracker<OffsetRange, Long> tracker,
        OutputReceiver<KV<String, Long>> out) {
      long part = tracker.currentRestriction().getFrom();
      if (!tracker.tryClaim(part)) {
        return ProcessContinuation.stop();
      }
      out.output(KV.of(element.getKey(), element.getValue() + part));
      return ProcessContinuation.resume();
    }
  }
}
