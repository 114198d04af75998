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
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Pipelines that are wide, deep or have much open at a time. */
@Timeout(180)
class LoadTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  @TempDir Path directory;

  private List<String> run(Recorder recorder, String name, Consumer<Pipeline> build) {
    new RestartHarness(SPARK, directory.resolve("checkpoint"), build, "--maxRestarts=0")
        .runToTheEnd();
    return recorder.values(name);
  }

  private Recorder recorder() {
    return new Recorder(directory.resolve("recorder"));
  }

  private static Window<String> oneWindow() {
    return Window.into(FixedWindows.of(Duration.standardHours(1)));
  }

  @Test
  void twoHundredSplits() {
    Recorder recorder = recorder();
    Script[] splits =
        IntStream.range(0, 200)
            .mapToObj(split -> Script.split().at(1, "s").epochs(1).at(2, "t").end())
            .toArray(Script[]::new);
    assertThat(
        run(
            recorder,
            "counts",
            p ->
                p.apply(Script.read("splits", splits))
                    .apply(oneWindow())
                    .apply(Count.perElement())
                    .apply(recorder.as("counts"))),
        is(List.of("s=200", "t=200")));
  }

  /** Adds one to every value of a key. */
  private static final class AddOneFn extends DoFn<KV<String, Long>, KV<String, Long>> {
    @ProcessElement
    public void process(
        @Element KV<String, Long> pair, OutputReceiver<KV<String, Long>> output) {
      output.output(KV.of(pair.getKey(), pair.getValue() + 1));
    }
  }

  /** Half of the steps have a shuffle before them. */
  @Test
  void sixtyFourStepsOneBehindTheOther() {
    Recorder recorder = recorder();
    int sums = 32;
    assertThat(
        run(
            recorder,
            "sums",
            p -> {
              PCollection<KV<String, Long>> step =
                  p.apply(Script.read("deep", Script.split().at(1, "a").at(2, "b").end()))
                      .apply(oneWindow())
                      .apply(WithKeys.of("k"))
                      .apply(
                          MapElements.into(
                                  TypeDescriptors.kvs(
                                      TypeDescriptors.strings(), TypeDescriptors.longs()))
                              .via((KV<String, String> pair) -> KV.of(pair.getKey(), 0L)));
              for (int i = 0; i < sums; i++) {
                step =
                    step.apply("sum " + i, Sum.longsPerKey())
                        .apply("add " + i, ParDo.of(new AddOneFn()));
              }
              step.apply(recorder.as("sums"));
            }),
        is(List.of("k=" + sums)));
  }

  @Test
  void fortyLeaves() {
    Recorder recorder = recorder();
    Script script = Script.split();
    IntStream.range(0, 40).forEach(value -> script.at(1 + value, Integer.toString(value)));
    run(
        recorder,
        "leaf 0",
        p -> {
          PCollection<String> read =
              p.apply(Script.read("leaves", script.end())).apply(oneWindow());
          for (int leaf = 0; leaf < 40; leaf++) {
            String own = Integer.toString(leaf);
            PCollection<String> branch =
                read.apply("filter " + leaf, Filter.by(value -> value.equals(own)));
            if (leaf % 2 == 0) {
              branch
                  .apply("count " + leaf, Count.perElement())
                  .apply("record " + leaf, recorder.as("leaf " + leaf));
            } else {
              branch.apply("record " + leaf, recorder.as("leaf " + leaf));
            }
          }
        });
    for (int leaf = 0; leaf < 40; leaf++) {
      assertThat(
          recorder.values("leaf " + leaf), is(List.of(leaf % 2 == 0 ? leaf + "=1" : "" + leaf)));
    }
  }

  @Test
  void oneThousandWindowsThatAreOpenAtATime() {
    Recorder recorder = recorder();
    Script script = Script.split();
    IntStream.range(0, 1000).forEach(second -> script.at(1 + 10 * second, "k"));
    script.epochs(2);
    IntStream.range(0, 1000).forEach(second -> script.at(2 + 10 * second, "k"));
    List<String> counts =
        run(
            recorder,
            "counts",
            p ->
                p.apply(Script.read("windows", script.end()))
                    .apply(Window.into(FixedWindows.of(Duration.standardSeconds(10))))
                    .apply(Count.perElement())
                    .apply(recorder.as("counts")));
    assertThat(counts, hasSize(1000));
    assertThat(counts.stream().distinct().toList(), is(List.of("k=2")));
  }
}
