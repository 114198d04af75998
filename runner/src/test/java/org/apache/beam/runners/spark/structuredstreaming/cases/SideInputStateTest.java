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
import static org.hamcrest.Matchers.contains;

import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollectionView;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;

/** DoFns with state and timers that read side inputs. */
class SideInputStateTest extends SideInputCase {
  /** Elements wait in order, and timers and expiry wait with them: nothing is late or out of order. */
  @Test
  void stateAndTimersWaitForTheViewWithTheirElements() {
    Script main =
        Script.split()
            .at(1, "k=1").watermark(1).epoch()
            .at(3, "k=2").at(2, "k=3").watermark(3).epoch()
            .watermark(40).epochs(3)
            .end();
    Script side = Script.split().epochs(5).at(1, "s").epoch().end();
    run(
        p -> {
          PCollectionView<String> view =
              p.apply(Script.read("state-side", side))
                  .apply("side windows", windows())
                  .apply(View.asSingleton());
          p.apply(Script.read("state-main", main))
              .apply("main windows", windows())
              .apply(pairs())
              .apply(ParDo.of(new CountingFn(view)).withSideInputs(view))
              .setCoder(StringUtf8Coder.of())
              .apply(recorder.as("counted"));
        });

    assertThat(
        recorder.seen("counted").stream().map(each -> each.value()).toList(),
        contains("1 is 1 s", "2 is 2 s", "3 is 3 s", "3 in all"));
  }

  private static Window<String> windows() {
    return Window.into(FixedWindows.of(Duration.standardSeconds(10)));
  }

  /** Counts the elements of a key and window, and says the count at the end of the window. */
  static final class CountingFn extends DoFn<KV<String, String>, String> {
    private final PCollectionView<String> view;

    @StateId("count")
    private final StateSpec<ValueState<Integer>> countSpec = StateSpecs.value(VarIntCoder.of());

    @TimerId("end")
    private final TimerSpec endSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    CountingFn(PCollectionView<String> view) {
      this.view = view;
    }

    @ProcessElement
    public void process(
        ProcessContext context,
        BoundedWindow window,
        @StateId("count") ValueState<Integer> count,
        @TimerId("end") Timer end) {
      Integer before = count.read();
      int now = before == null ? 1 : before + 1;
      count.write(now);
      end.set(window.maxTimestamp());
      context.output(context.element().getValue() + " is " + now + " " + context.sideInput(view));
    }

    @OnTimer("end")
    public void onEnd(@StateId("count") ValueState<Integer> count, OutputReceiver<String> output) {
      output.output(count.read() + " in all");
    }
  }
}
