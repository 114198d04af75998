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
package org.apache.beam.runners.spark.structuredstreaming.properties;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;

import java.nio.file.Path;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.AfterProcessingTime;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Trigger;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Elements and the end of time in one epoch leave what goes by processing time its turn. */
@Timeout(120)
class EndOfTimeTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir Path directory;

  private Recorder recorder;

  private Pipeline pipeline() {
    recorder = new Recorder(directory.resolve("recorder"));
    return Pipeline.create(
        SPARK.options("--checkpointDir=" + directory.resolve("checkpoint")));
  }

  private static void finish(Pipeline pipeline) {
    RestartHarness.finish((SparkStructuredStreamingPipelineResult) pipeline.run());
  }

  private List<String> panes(String name) {
    return recorder.seen(name).stream()
        .map(pane -> pane.value() + " " + pane.timing() + " " + pane.paneIndex())
        .toList();
  }

  @Test
  void anEarlyPaneOfAShortDelayComesBeforeThatOnTimeAndGoesThroughTheNextGroupingAlone() {
    Trigger.OnceTrigger early =
        AfterProcessingTime.pastFirstElementInPane().plusDelayOf(Duration.millis(1));
    Pipeline pipeline = pipeline();
    pipeline
        .apply(Create.of(KV.of("k", 42)))
        .apply(
            Window.<KV<String, Integer>>into(new GlobalWindows())
                .triggering(AfterWatermark.pastEndOfWindow().withEarlyFirings(early))
                .withAllowedLateness(Duration.ZERO)
                .accumulatingFiredPanes())
        .apply("first", Sum.integersPerKey())
        .apply(recorder.as("first panes"))
        .apply("second", Sum.integersPerKey())
        .apply(recorder.as("second panes"));
    finish(pipeline);
    assertThat(panes("first panes"), contains("k=42 EARLY 0", "k=42 ON_TIME 1"));
    assertThat(panes("second panes"), contains("k=42 EARLY 0", "k=84 ON_TIME 1"));
  }

  /** A delay longer than the pipeline: nothing waits for it. */
  @Test
  void aPaneThatIsFarOffIsNotWaitedFor() {
    Trigger.OnceTrigger early =
        AfterProcessingTime.pastFirstElementInPane().plusDelayOf(Duration.standardDays(1));
    Pipeline pipeline = pipeline();
    pipeline
        .apply(Create.of(KV.of("k", 1)))
        .apply(
            Window.<KV<String, Integer>>into(new GlobalWindows())
                .triggering(AfterWatermark.pastEndOfWindow().withEarlyFirings(early))
                .withAllowedLateness(Duration.ZERO)
                .accumulatingFiredPanes())
        .apply("sum", Sum.integersPerKey())
        .apply(recorder.as("panes"));
    finish(pipeline);
    assertThat(panes("panes"), contains("k=1 ON_TIME 0"));
  }

  @Test
  void aTimerOfADoFnFiresBeforeItsWindowExpires() {
    Pipeline pipeline = pipeline();
    pipeline
        .apply(Create.of(KV.of("k", 1)))
        .apply("timers", ParDo.of(new TimerFn(false)))
        .apply(recorder.as("calls"));
    finish(pipeline);
    assertThat(recorder.seen("calls").stream().map(call -> call.value()).toList(),
        contains("timer 1", "expiry 1"));
  }

  @Test
  void aTimerThatIsSetAnewWithEveryFiringDoesNotKeepThePipelineGoing() {
    Pipeline pipeline = pipeline();
    pipeline
        .apply(Create.of(KV.of("k", 1)))
        .apply("timers", ParDo.of(new TimerFn(true)))
        .apply(recorder.as("calls"));
    finish(pipeline);
    assertThat(recorder.seen("calls").stream().map(call -> call.value()).toList(),
        contains("timer 1", "timer 2", "expiry 2"));
  }

  /** Sets a timer at once by processing time, and tells how often it has fired. */
  static final class TimerFn extends DoFn<KV<String, Integer>, String> {
    private final boolean looping;

    @StateId("fired")
    private final StateSpec<ValueState<Integer>> firedSpec = StateSpecs.value(VarIntCoder.of());

    @TimerId("timer")
    private final TimerSpec timerSpec = TimerSpecs.timer(TimeDomain.PROCESSING_TIME);

    TimerFn(boolean looping) {
      this.looping = looping;
    }

    @ProcessElement
    public void process(@StateId("fired") ValueState<Integer> fired, @TimerId("timer") Timer timer) {
      fired.write(0);
      timer.offset(Duration.ZERO).setRelative();
    }

    @OnTimer("timer")
    public void fire(
        @StateId("fired") ValueState<Integer> fired,
        @TimerId("timer") Timer timer,
        OutputReceiver<String> out) {
      int count = fired.read() + 1;
      fired.write(count);
      out.output("timer " + count);
      if (looping) {
        timer.offset(Duration.ZERO).setRelative();
      }
    }

    @OnWindowExpiration
    public void expire(
        @StateId("fired") ValueState<Integer> fired, OutputReceiver<String> out) {
      out.output("expiry " + fired.read());
    }
  }
}
