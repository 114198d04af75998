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
package org.apache.beam.runners.spark.structuredstreaming.cases;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.apache.beam.runners.direct.DirectRunner;
import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.AfterAll;
import org.apache.beam.sdk.transforms.windowing.AfterEach;
import org.apache.beam.sdk.transforms.windowing.AfterFirst;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.Trigger;
import org.apache.beam.sdk.transforms.windowing.Trigger.OnceTrigger;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.transforms.windowing.Window.OnTimeBehavior;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PDone;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Triggers that nobody would write, over streams that nobody would see: the panes are those of the
 * DirectRunner. A seed makes a stream and some windowings, all as branches of one pipeline. Other
 * seeds: {@code -Dtriggers.seed=100 -Dtriggers.seeds=20}.
 *
 * <p>Triggers by processing time, and empty panes on time, are left to {@link TriggerComparisonTest}. The
 * latter because of a watermark that leaps past a window's end and its lateness at once, with a trigger
 * that does not wait for it: to runners-core the pane that closes the window is then on time, and so is
 * there though it is empty, if the step's output watermark is still before the window's end. Here it is,
 * as it follows the timers; that of the DirectRunner is past it when the timers fire.
 */
class RandomTriggersTest extends PipelineCase {
  private static final long FIRST_SEED = Long.getLong("triggers.seed", 1);
  private static final long SEEDS = Long.getLong("triggers.seeds", 4);
  private static final int BRANCHES = 6;
  private static final int EVENTS = 14;
  private static final int DEPTH = 3;

  static LongStream seeds() {
    return LongStream.range(FIRST_SEED, FIRST_SEED + SEEDS);
  }

  /** What a seed makes. */
  private static final class Program {
    private final Random random;
    private final TestStream<String> stream;
    private final Map<String, Window<String>> windowings = new LinkedHashMap<>();
    // What the last windowing is, for whoever reads a failure.
    private String described;

    Program(long seed) {
      random = new Random(seed);
      stream = stream();
      for (int i = 0; i < BRANCHES; i++) {
        Window<String> windowing = windowing();
        windowings.put("seed " + seed + ", branch " + i + ": " + described, windowing);
      }
    }

    /** Elements around the watermark: early, on time, late and too late. */
    private TestStream<String> stream() {
      Events events = Events.stream();
      int watermark = 0;
      for (int event = 0; event < EVENTS; event++) {
        if (random.nextInt(3) == 0) {
          watermark += 1 + random.nextInt(12);
          events.watermark(watermark);
        } else {
          int elements = 1 + random.nextInt(3);
          for (int i = 0; i < elements; i++) {
            String key = random.nextInt(3) == 0 ? "a" : "b";
            events.at(Math.max(0, watermark - 15 + random.nextInt(25)), key + event + "." + i);
          }
          events.then();
        }
      }
      return events.end();
    }

    private Window<String> windowing() {
      WindowFn<Object, ?> windowFn =
          switch (random.nextInt(5)) {
            case 0 -> SlidingWindows.of(Duration.standardSeconds(10)).every(Duration.standardSeconds(5));
            case 1 -> Sessions.withGapDuration(Duration.standardSeconds(4));
            case 2 -> new GlobalWindows();
            default -> FixedWindows.of(Duration.standardSeconds(10));
          };
      Trigger trigger = trigger(DEPTH);
      // One that comes to its end would lose what comes behind it, and is refused.
      Trigger safe = trigger.mayFinish() ? Repeatedly.forever(trigger) : trigger;
      int lateness = List.of(0, 6, 30).get(random.nextInt(3));
      boolean accumulating = random.nextBoolean();
      described =
          safe + " of " + windowFn + ", lateness " + lateness + " s, "
              + (accumulating ? "accumulating" : "discarding");
      Window<String> window =
          Window.<String>into(windowFn)
              .triggering(safe)
              .withAllowedLateness(Duration.standardSeconds(lateness))
              .withOnTimeBehavior(OnTimeBehavior.FIRE_IF_NON_EMPTY);
      return accumulating ? window.accumulatingFiredPanes() : window.discardingFiredPanes();
    }

    private Trigger trigger(int depth) {
      if (depth == 1) {
        return once(1);
      }
      return switch (random.nextInt(6)) {
        case 0 -> once(depth);
        case 1 -> Repeatedly.forever(trigger(depth - 1));
        case 2 -> trigger(depth - 1).orFinally(once(depth - 1));
        case 3 -> AfterEach.inOrder(some(() -> trigger(depth - 1)));
        default -> earlyAndLate(depth);
      };
    }

    private Trigger earlyAndLate(int depth) {
      return switch (random.nextInt(3)) {
        case 0 -> AfterWatermark.pastEndOfWindow().withEarlyFirings(once(depth - 1));
        case 1 -> AfterWatermark.pastEndOfWindow().withLateFirings(once(depth - 1));
        default ->
            AfterWatermark.pastEndOfWindow()
                .withEarlyFirings(once(depth - 1))
                .withLateFirings(once(depth - 1));
      };
    }

    private OnceTrigger once(int depth) {
      int kind = random.nextInt(depth == 1 ? 3 : 5);
      return switch (kind) {
        case 0 -> AfterWatermark.pastEndOfWindow();
        case 1, 2 -> AfterPane.elementCountAtLeast(1 + random.nextInt(4));
        case 3 -> AfterFirst.of(some(() -> once(depth - 1)));
        default -> AfterAll.of(some(() -> once(depth - 1)));
      };
    }

    private List<Trigger> some(Supplier<Trigger> each) {
      List<Trigger> triggers = new ArrayList<>();
      int count = 2 + random.nextInt(2);
      for (int i = 0; i < count; i++) {
        triggers.add(each.get());
      }
      return triggers;
    }

    void build(Pipeline pipeline, String run) {
      PCollection<String> input = pipeline.apply("stream", stream);
      int number = 0;
      for (Map.Entry<String, Window<String>> each : windowings.entrySet()) {
        input.apply("branch " + number++, branch(each.getValue(), run + each.getKey()));
      }
    }

    private static PTransform<PCollection<String>, PDone> branch(
        Window<String> windowing, String gathered) {
      return new PTransform<>() {
        @Override
        public PDone expand(PCollection<String> input) {
          input
              .apply(windowing)
              .apply(
                  WithKeys.of((String s) -> s.substring(0, 1)).withKeyType(TypeDescriptors.strings()))
              .apply(GroupByKey.create())
              .apply(ParDo.of(new GatheredPanes<>(gathered)));
          return PDone.in(input.getPipeline());
        }
      };
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void panesAreThoseOfTheDirectRunner(long seed) {
    Program program = new Program(seed);
    Pipeline direct =
        Pipeline.create(
            PipelineOptionsFactory.fromArgs("--runner=" + DirectRunner.class.getSimpleName())
                .create());
    program.build(direct, "direct ");
    direct.run().waitUntilFinish();
    run(pipeline -> program.build(pipeline, "spark "));
    int panes = 0;
    for (String branch : program.windowings.keySet()) {
      List<String> expected = GatheredPanes.set("direct " + branch);
      assertThat(branch, GatheredPanes.set("spark " + branch), is(expected));
      panes += expected.size();
    }
    assertThat("panes of seed " + seed, panes, greaterThan(BRANCHES));
  }
}
