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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LevelGraph;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.Block;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.CountingStateRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import org.apache.beam.runners.spark.structuredstreaming.translation.ImpulseSource;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.RedistributeStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.IterableCoder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VoidCoder;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.joda.time.Duration;
import org.joda.time.Instant;

/**
 * A view of strings and a step that reads it, both in fixed windows of ten seconds, in one partition:
 * epoch by epoch, on rows in memory. Times are seconds.
 */
final class ViewBench {
  private static final PipelineOptions OPTIONS = PipelineOptionsFactory.create();
  private static final Duration SIZE = Duration.standardSeconds(10);

  final PCollectionView<Iterable<String>> view;
  final CountingStateRows rows = new CountingStateRows();
  final List<String> processed = new ArrayList<>();
  final List<String> dropped = new ArrayList<>();

  private final MaterializedViews materialized = new MaterializedViews();
  private final PlanCollection panes;
  private final ViewStep viewStep;
  private final RedistributeStep reader;
  private final LevelGraph senders;

  ViewRunner viewRunner;
  StepSideInputs sideInputs;
  WaitingElements waiting;
  private StepWatermarks clock;
  private StepRows readerRows;

  ViewBench(Duration mainLateness) {
    view =
        Pipeline.create(OPTIONS)
            .apply(Create.of("x"))
            .apply(Window.into(FixedWindows.of(SIZE)))
            .apply(View.asIterable());
    WindowingStrategy<?, ?> windowing = WindowingStrategy.of(FixedWindows.of(SIZE));
    panes =
        new PlanCollection(
            0,
            "panes",
            KvCoder.of(VoidCoder.of(), IterableCoder.of(StringUtf8Coder.of())),
            windowing);
    PlanCollection main =
        new PlanCollection(
            1, "main", StringUtf8Coder.of(), windowing.withAllowedLateness(mainLateness));
    ReadStep read = new ReadStep(0, "Read", 0, 0, new ImpulseSource(), panes);
    viewStep = new ViewStep(1, "View (level 1)", 1, view, panes);
    reader = new RedistributeStep(2, "Reader", 1, false, main, main);
    Edge edge = new Edge(0, 0, panes, viewStep);
    Level sending = new Level(0, List.of(read), List.of(), List.of(edge), List.of());
    Level receiving = new Level(1, List.of(viewStep), List.of(), List.of(), List.of(edge));
    Plan plan =
        new Plan(
            List.of(panes, main),
            List.of(read, viewStep),
            List.of(sending, receiving),
            List.of(edge),
            List.of(read),
            true);
    senders = LevelGraph.create(plan, sending, OPTIONS, 1, 0);
    startEpoch();
  }

  static IntervalWindow window(long startSeconds) {
    return new IntervalWindow(Instant.ofEpochSecond(startSeconds), SIZE);
  }

  /** Sends a pane and receives it. */
  void pane(long windowStart, int index, String... elements) throws Exception {
    pane(windowStart, index, Arrays.asList(elements));
  }

  void pane(long windowStart, int index, Iterable<String> elements) throws Exception {
    senders.startEpoch();
    senders
        .receiver(panes)
        .accept(
            WindowedValues.of(
                KV.of(null, elements),
                window(windowStart).maxTimestamp(),
                window(windowStart),
                PaneInfo.createPane(index == 0, false, PaneInfo.Timing.EARLY, index, -1)));
    senders.finishBundles();
    senders.finishEpoch();
    RecordInput record = new RecordInput(1);
    while (senders.output().hasReady()) {
      record.reset((Block) senders.output().poll()._2());
      while (record.next()) {
        viewRunner.receive(record);
      }
    }
  }

  /** Offers an element of the reader's input, in the window of its time. */
  StepSideInputs.State element(String value, long seconds) {
    return element(value, seconds, seconds - seconds % 10);
  }

  StepSideInputs.State element(String value, long seconds, long windowStart) {
    WindowedValue<Object> element =
        WindowedValues.of(
            value, Instant.ofEpochSecond(seconds), window(windowStart), PaneInfo.NO_FIRING);
    StepSideInputs.State state = waiting.offer(element);
    if (state == StepSideInputs.State.READY) {
      process(element);
    } else if (state == StepSideInputs.State.COLLECTED) {
      dropped.add(value);
    }
    return state;
  }

  /** Ends the epoch as a task does, and starts the next. */
  void endEpoch(long viewSeconds, long mainSeconds) {
    viewRunner.advanceWatermark(viewSeconds * 1000).complete();
    waiting.release(this::process, late -> dropped.add((String) late.getValue())).complete();
    clock.advanceInput(waiting.held(mainSeconds * 1000));
    viewRunner.finish();
    waiting.flush();
    clock.flush();
    readerRows.flush();
    startEpoch();
  }

  /** The reader's input watermark. */
  long inputSeconds() {
    return clock.inputWatermark() / 1000;
  }

  private void startEpoch() {
    SideInputs level = new SideInputs(materialized);
    viewRunner =
        new ViewRunner(
            viewStep,
            new MetricsContainerImpl("view"),
            new StepRows(rows, viewStep.stableId(), viewStep.fullName()),
            materialized,
            0);
    level.add(viewRunner);
    readerRows = new StepRows(rows, reader.stableId(), reader.fullName());
    clock = new StepWatermarks(readerRows, StepWatermarks.engineKind(0), 0);
    sideInputs = level.of(reader, List.of(view), clock);
    waiting = new WaitingElements(readerRows, reader.input(), sideInputs);
  }

  private void process(WindowedValue<Object> element) {
    List<String> side = new ArrayList<>();
    IntervalWindow window = (IntervalWindow) element.getWindows().iterator().next();
    sideInputs.get(view, window).forEach(side::add);
    processed.add(element.getValue() + " " + side);
  }
}
