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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LevelGraph;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.Block;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.CountingStateRows;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.CombineStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import org.apache.beam.runners.spark.structuredstreaming.translation.GroupByKeyStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.ImpulseSource;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CoderRegistry;
import org.apache.beam.sdk.coders.IterableCoder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The window-major runner and the one by ReduceFnRunner give the same panes, watermarks and counts
 * of dropped elements for the same elements, epoch by epoch, and leave no state behind.
 */
class PaneEquivalenceTest {
  private static final PipelineOptions OPTIONS = PipelineOptionsFactory.create();
  private static final int EPOCHS = 40;

  /** One windowing to compare under. */
  record Case(String name, boolean combine, WindowingStrategy<?, ?> windowing, long seed) {
    @Override
    public String toString() {
      return name + (combine ? ", sum" : ", group") + ", seed " + seed;
    }
  }

  static Stream<Case> cases() {
    List<Case> cases = new ArrayList<>();
    List<WindowFn<Object, ?>> windowFns =
        List.of(
            FixedWindows.of(Duration.standardSeconds(10)),
            SlidingWindows.of(Duration.standardSeconds(10)).every(Duration.standardSeconds(4)),
            new GlobalWindows());
    for (WindowFn<Object, ?> windowFn : windowFns) {
      for (int lateness : new int[] {0, 15}) {
        for (TimestampCombiner combiner :
            List.of(TimestampCombiner.END_OF_WINDOW, TimestampCombiner.EARLIEST)) {
          WindowingStrategy<?, ?> windowing =
              WindowingStrategy.of(windowFn)
                  .withAllowedLateness(Duration.standardSeconds(lateness))
                  .withTimestampCombiner(combiner);
          String name = windowFn + ", lateness " + lateness + " s, " + combiner;
          for (long seed = 1; seed <= 3; seed++) {
            cases.add(new Case(name, false, windowing, seed));
            // What is lifted is combined before it is known which elements are late for a hold.
            if (combiner == TimestampCombiner.END_OF_WINDOW) {
              cases.add(new Case(name, true, windowing, seed));
            }
          }
        }
      }
    }
    return cases.stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void bothRunnersGiveTheSame(Case each) throws Exception {
    Bench bench = new Bench(each);
    assertThat(KeyedStepRunners.isWindowMajor(bench.step), is(true));
    Random random = new Random(each.seed());
    long watermark = 0;
    int panes = 0;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      List<WindowedValue<Object>> elements = bench.elements(random, watermark);
      watermark =
          epoch == EPOCHS - 1
              ? BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis()
              : watermark + random.nextInt(3) * (long) random.nextInt(9000);
      List<Block> blocks = bench.send(elements);
      List<String> fast = bench.run(true, blocks, watermark);
      List<String> reference = bench.run(false, blocks, watermark);
      assertThat("epoch " + epoch, fast, is(reference));
      panes += fast.size() - 1;
    }
    assertThat(panes, greaterThan(0));
    // What remains is the row of the watermarks.
    assertThat(bench.fastRows.size(), is(1));
    assertThat(bench.referenceRows.size(), is(1));
  }

  /** A step with both of its runners, each on its own state. */
  private static final class Bench {
    private final KeyedStep step;
    private final WindowFn<Object, BoundedWindow> windowFn;
    private final PlanCollection input;
    private final LevelGraph senders;
    private final CountingStateRows fastRows = new CountingStateRows();
    private final CountingStateRows referenceRows = new CountingStateRows();
    private long number;

    @SuppressWarnings("unchecked") // the windowings of the cases take any element
    Bench(Case each) {
      KvCoder<String, Long> coder = KvCoder.of(StringUtf8Coder.of(), VarLongCoder.of());
      windowFn = (WindowFn<Object, BoundedWindow>) each.windowing().getWindowFn();
      input = new PlanCollection(0, "input", coder, each.windowing());
      if (each.combine()) {
        PlanCollection output = new PlanCollection(1, "output", coder, each.windowing());
        step =
            new CombineStep(
                1, "Sum", 1, Sum.ofLongs(), accumulatorCoder(), true, input, output);
      } else {
        PlanCollection output =
            new PlanCollection(
                1,
                "output",
                KvCoder.of(StringUtf8Coder.of(), IterableCoder.of(VarLongCoder.of())),
                each.windowing());
        step = new GroupByKeyStep(1, "Group", 1, input, output);
      }
      ReadStep read = new ReadStep(0, "Read", 0, 0, new ImpulseSource(), input);
      Edge edge = new Edge(0, 0, input, step);
      Level sending = new Level(0, List.of(read), List.of(), List.of(edge), List.of());
      Level receiving = new Level(1, List.of(step), List.of(), List.of(), List.of(edge));
      Plan plan =
          new Plan(
              List.of(input, step.output()),
              List.of(read, step),
              List.of(sending, receiving),
              List.of(edge),
              List.of(read),
              true);
      senders = LevelGraph.create(plan, sending, OPTIONS, 1, 0);
    }

    private static Coder<?> accumulatorCoder() {
      return Sum.ofLongs().getAccumulatorCoder(CoderRegistry.createDefault(), VarLongCoder.of());
    }

    /** Elements around the watermark: on time, late and too late. */
    List<WindowedValue<Object>> elements(Random random, long watermark) throws Exception {
      List<WindowedValue<Object>> elements = new ArrayList<>();
      int count = random.nextInt(8);
      for (int i = 0; i < count; i++) {
        Object value = KV.of("key" + random.nextInt(3), ++number);
        Instant timestamp = Instant.ofEpochMilli(watermark + random.nextInt(50_000) - 30_000);
        elements.add(
            WindowedValues.of(value, timestamp, windows(value, timestamp), PaneInfo.NO_FIRING));
      }
      return elements;
    }

    private Iterable<BoundedWindow> windowsOf(Object value, Instant timestamp) throws Exception {
      return windowFn.assignWindows(
          windowFn.new AssignContext() {
            @Override
            public Object element() {
              return value;
            }

            @Override
            public Instant timestamp() {
              return timestamp;
            }

            @Override
            public BoundedWindow window() {
              return null;
            }
          });
    }

    private List<BoundedWindow> windows(Object value, Instant timestamp) throws Exception {
      List<BoundedWindow> windows = new ArrayList<>();
      windowsOf(value, timestamp).forEach(windows::add);
      return windows;
    }

    /** Sends elements as a task of the level below would. */
    List<Block> send(List<WindowedValue<Object>> elements) {
      senders.startEpoch();
      ElementReceiver receiver = senders.receiver(input);
      elements.forEach(receiver::accept);
      senders.finishBundles();
      senders.finishEpoch();
      List<Block> blocks = new ArrayList<>();
      while (senders.output().hasReady()) {
        Block block = (Block) senders.output().poll()._2();
        blocks.add(new Block(Arrays.copyOf(block.bytes(), block.length()), block.length()));
      }
      return blocks;
    }

    /** Runs an epoch: the panes in a fixed order, then watermarks and the count of the dropped. */
    List<String> run(boolean fast, List<Block> blocks, long watermark) throws Exception {
      List<String> panes = new ArrayList<>();
      ElementReceiver output = element -> panes.add(describe(element));
      MetricsContainerImpl container = new MetricsContainerImpl(step.fullName());
      StepRows rows =
          new StepRows(fast ? fastRows : referenceRows, step.stableId(), step.fullName());
      KeyedStepRunner runner =
          fast
              ? KeyedStepRunners.windowMajor(step, output, container, rows, 0)
              : new ReduceFnStepRunner(
                  step, output, container, rows, OPTIONS, new EpochTime(0, false, false));
      RecordInput record = new RecordInput(1);
      for (Block block : blocks) {
        record.reset(block);
        while (record.next()) {
          runner.receive(record);
        }
      }
      runner.endOfElements().complete();
      runner.advanceWatermark(watermark).complete();
      long out = runner.finish();
      List<String> result = new ArrayList<>(new TreeSet<>(panes));
      assertThat("no pane twice", result.size(), is(panes.size()));
      result.add(
          "in " + runner.statistics().inputWatermarkMillis() + ", out " + out + ", dropped "
              + runner.statistics().lateRows());
      return result;
    }

    private static String describe(WindowedValue<Object> pane) {
      KV<?, ?> pair = (KV<?, ?>) pane.getValue();
      List<Object> values = new ArrayList<>();
      if (pair.getValue() instanceof Iterable<?> group) {
        group.forEach(values::add);
      } else {
        values.add(pair.getValue());
      }
      return pane.getWindows() + " " + pair.getKey() + " " + values + " at " + pane.getTimestamp()
          + " " + pane.getPaneInfo();
    }
  }
}
