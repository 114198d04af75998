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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;

/**
 * A pipeline in which elements wait for views over several epochs, in a ParDo with state and in one
 * without, and read a view that changes from epoch to epoch.
 */
public final class SideInputPipeline {
  /** The values that come out, sorted. */
  public static final List<String> VALUES =
      List.of(
          "M:1 [C:a]",
          "M:1 [S:x]",
          "M:1#1 [S:x]",
          "M:2 [C:a]",
          "M:2 [S:x]",
          "M:2#2 [S:x]",
          "M:3 [C:a]",
          "M:3 [S:y]",
          "M:3#1 [S:y]",
          "M:4 [C:a, C:b]",
          "M:4 [S:y]",
          "M:4#2 [S:y]");

  private SideInputPipeline() {}

  /** Builds the pipeline; {@code name} is that of the source's trace. */
  public static void build(Pipeline pipeline, String name, Recorder recorder) {
    Script script =
        Script.split()
            .at(1, "M:1").epoch()
            .at(2, "C:a").at(3, "M:2").epoch()
            .at(4, "S:x").at(12, "M:3").watermark(4).epoch()
            .at(13, "C:b").at(14, "S:y").epoch()
            .at(15, "M:4").watermark(12).epoch()
            .watermark(25).epoch()
            .end();
    PCollection<String> all = pipeline.apply(Script.read(name, script));
    PCollectionView<Iterable<String>> changing =
        only(all, "C:")
            .apply(
                "changing",
                Window.<String>into(new GlobalWindows())
                    .triggering(Repeatedly.forever(AfterPane.elementCountAtLeast(1)))
                    .withAllowedLateness(Duration.ZERO)
                    .accumulatingFiredPanes())
            .apply("changing view", View.asIterable());
    Window<String> windows = Window.into(FixedWindows.of(Duration.standardSeconds(10)));
    PCollectionView<Iterable<String>> windowed =
        only(all, "S:").apply("windowed", windows).apply("windowed view", View.asIterable());
    PCollection<String> main = only(all, "M:").apply("main", windows);
    main.apply("reads changing", ParDo.of(new ReadFn(changing)).withSideInputs(changing))
        .apply(recorder.as("changing"));
    main.apply("reads windowed", ParDo.of(new ReadFn(windowed)).withSideInputs(windowed))
        .apply(recorder.as("windowed"));
    main.apply(WithKeys.of((String value) -> "k").withKeyType(TypeDescriptors.strings()))
        .apply("counts", ParDo.of(new CountFn(windowed)).withSideInputs(windowed))
        .setCoder(StringUtf8Coder.of())
        .apply(recorder.as("counts"));
  }

  /** All that came out, in a fixed order, the epochs left out. */
  public static List<Recorded> outputs(Recorder recorder) {
    return Stream.of("changing", "windowed", "counts")
        .flatMap(name -> recorder.seen(name).stream())
        .map(Recorded::withoutEpoch)
        .distinct()
        .sorted(Comparator.comparing(Recorded::value).thenComparing(Recorded::timestampMillis))
        .toList();
  }

  private static PCollection<String> only(PCollection<String> all, String prefix) {
    return all.apply("only " + prefix, Filter.by((String value) -> value.startsWith(prefix)));
  }

  private static final class ReadFn extends DoFn<String, String> {
    private final PCollectionView<Iterable<String>> view;

    ReadFn(PCollectionView<Iterable<String>> view) {
      this.view = view;
    }

    @ProcessElement
    public void process(ProcessContext context) {
      context.output(context.element() + " " + Recorder.text(context.sideInput(view)));
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
      int now = before == null ? 1 : before + 1;
      count.write(now);
      context.output(
          context.element().getValue() + "#" + now + " "
              + Recorder.text(context.sideInput(view)));
    }
  }
}
