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
package org.apache.beam.runners.spark.structuredstreaming.restarts;

import static org.apache.beam.runners.spark.structuredstreaming.restarts.RestartedPipeline.read;

import java.util.List;
import java.util.Map;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.joda.time.Duration;

/** Side inputs: elements that wait for them over several epochs, and views that change. */
final class ViewPipelines {
  private ViewPipelines() {}

  static List<RestartedPipeline> all() {
    return List.of(
        RestartedPipeline.of(
            "elements that wait for a view of their window",
            p -> {
              PCollection<KV<String, String>> input = p.apply(read("waiting", mainAndSide()));
              PCollectionView<Iterable<String>> view = windowedView(input);
              return main(input).apply(ParDo.of(new ReadFn(view)).withSideInputs(view));
            },
            "1 [x] @1 [0, 10)", "2 [x] @3 [0, 10)", "3 [y, z] @12 [10, 20)",
            "4 [y, z] @15 [10, 20)", "5 [] @22 [20, 30)"),
        RestartedPipeline.of(
            "elements that wait for a view in front of state",
            p -> {
              PCollection<KV<String, String>> input = p.apply(read("waiting-state", mainAndSide()));
              PCollectionView<Iterable<String>> view = windowedView(input);
              return main(input).apply(ParDo.of(new CountFn(view)).withSideInputs(view));
            },
            "1 #1 [x] @1 [0, 10)", "2 #2 [x] @3 [0, 10)", "3 #1 [y, z] @12 [10, 20)",
            "4 #2 [y, z] @15 [10, 20)", "5 #1 [] @22 [20, 30)"),
        RestartedPipeline.of(
            "a view that changes",
            ViewPipelines::changing,
            "1 [x=[1]] @1", "2 [x=[1]] @3", "3 [x=[1, 2], y=[1]] @12", "4 [x=[1, 2], y=[1]] @15",
            "5 [x=[1, 2], y=[1, 3]] @22"));
  }

  /**
   * Elements come before, with and behind the view of their window, some of whose values come when
   * it is there already.
   */
  private static Script mainAndSide() {
    return Script.split()
        .at(1, "M:1").epoch()
        .at(3, "M:2").watermark(1).epoch()
        .at(4, "S:x").at(12, "M:3").watermark(4).epoch()
        .at(14, "S:y").at(16, "S:z").watermark(11).epoch()
        .at(15, "M:4").watermark(12).epoch()
        .watermark(21).epoch()
        .at(22, "M:5").epoch()
        .end();
  }

  private static PCollection<KV<String, String>> only(
      PCollection<KV<String, String>> input, String key) {
    return input.apply(
        "only " + key, Filter.by((KV<String, String> pair) -> pair.getKey().equals(key)));
  }

  private static PCollectionView<Iterable<String>> windowedView(
      PCollection<KV<String, String>> input) {
    return only(input, "S")
        .apply("side window", Window.into(FixedWindows.of(Duration.standardSeconds(10))))
        .apply(Values.create())
        .apply(View.asIterable());
  }

  private static PCollection<KV<String, String>> main(PCollection<KV<String, String>> input) {
    return only(input, "M")
        .apply("main window", Window.into(FixedWindows.of(Duration.standardSeconds(10))));
  }

  private static PCollection<?> changing(Pipeline pipeline) {
    PCollection<KV<String, String>> input =
        pipeline.apply(
            read(
                "changing",
                Script.split()
                    .at(1, "M:1").epoch()
                    .at(2, "x:1").epoch()
                    .at(3, "M:2").watermark(3).epoch()
                    .at(5, "x:2").at(4, "y:1").epoch()
                    .at(12, "M:3").epoch()
                    .at(15, "M:4").watermark(15).epoch()
                    .at(21, "y:3").epoch()
                    .at(22, "M:5").epoch()
                    .end()));
    PCollectionView<Map<String, Iterable<String>>> view =
        input
            .apply("not M", Filter.by((KV<String, String> pair) -> !pair.getKey().equals("M")))
            .apply(
                Window.<KV<String, String>>into(new GlobalWindows())
                    .triggering(Repeatedly.forever(AfterPane.elementCountAtLeast(1)))
                    .withAllowedLateness(Duration.ZERO)
                    .accumulatingFiredPanes())
            .apply(View.asMultimap());
    return only(input, "M").apply(ParDo.of(new ReadMapFn(view)).withSideInputs(view));
  }

  private static final class ReadFn extends DoFn<KV<String, String>, String> {
    private final PCollectionView<Iterable<String>> view;

    ReadFn(PCollectionView<Iterable<String>> view) {
      this.view = view;
    }

    @ProcessElement
    public void process(ProcessContext context) {
      context.output(
          context.element().getValue() + " " + Recorder.text(context.sideInput(view)));
    }
  }

  private static final class CountFn extends DoFn<KV<String, String>, String> {
    private final PCollectionView<Iterable<String>> view;

    @StateId("count")
    private final StateSpec<ValueState<Integer>> countSpec = StateSpecs.value(VarIntCoder.of());

    CountFn(PCollectionView<Iterable<String>> view) {
      this.view = view;
    }

    @ProcessElement
    public void process(ProcessContext context, @StateId("count") ValueState<Integer> count) {
      Integer before = count.read();
      count.write(before == null ? 1 : before + 1);
      context.output(
          context.element().getValue() + " #" + count.read() + " "
              + Recorder.text(context.sideInput(view)));
    }
  }

  private static final class ReadMapFn extends DoFn<KV<String, String>, String> {
    private final PCollectionView<Map<String, Iterable<String>>> view;

    ReadMapFn(PCollectionView<Map<String, Iterable<String>>> view) {
      this.view = view;
    }

    @ProcessElement
    public void process(ProcessContext context) {
      Map<String, Iterable<String>> map = context.sideInput(view);
      List<String> entries =
          map.keySet().stream()
              .sorted()
              .map(key -> key + "=" + Recorder.text(map.get(key)))
              .toList();
      context.output(context.element().getValue() + " " + entries);
    }
  }
}
