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
import static org.hamcrest.Matchers.endsWith;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.SerializableFunction;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Views of batch pipelines on executors that share nothing and die. */
@Timeout(180)
class ViewsOnClusterTest {
  @RegisterExtension static final TestSpark SPARK = LocalCluster.of(2);

  private static final int ELEMENTS = 200;

  @TempDir Path directory;

  /** Something else whenever it is made; writes down the process that makes it, and what. */
  private static final class NeverTheSameFn implements SerializableFunction<Iterable<String>, String> {
    private final String makers;

    NeverTheSameFn(Path makers) {
      this.makers = makers.toString();
    }

    @Override
    public String apply(Iterable<String> parts) {
      String made = UUID.randomUUID().toString();
      try {
        Files.writeString(
            Path.of(makers),
            ProcessHandle.current().pid() + " " + made + "\n",
            StandardOpenOption.CREATE,
            StandardOpenOption.APPEND);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return made;
    }
  }

  private static final class ValueFn extends DoFn<String, String> {
    private final PCollectionView<String> view;

    ValueFn(PCollectionView<String> view) {
      this.view = view;
    }

    @ProcessElement
    public void processElement(ProcessContext context) {
      context.output(context.sideInput(view));
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The executor is killed that holds the view in its shuffle files, when another has read it: the view
   * is made anew, as something else, and nothing of the old one may be in the result.
   */
  @Test
  void aViewThatIsMadeAnewIsReadAnewEverywhere() {
    Path makers = directory.resolve("makers");
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    WaitPoints points = new WaitPoints(directory.resolve("points"));
    Pipeline pipeline = Pipeline.create(SPARK.options("--streaming=false", "--jobName=view-anew"));
    PCollectionView<String> view =
        pipeline
            .apply("parts", Create.of("a", "b"))
            .apply(
                "never the same",
                Combine.globally(new NeverTheSameFn(makers)).asSingletonView());
    pipeline
        .apply("numbers", GenerateSequence.from(0).to(ELEMENTS))
        .apply(MapElements.into(TypeDescriptors.strings()).via(n -> "n" + n))
        .apply(points.on("wait", Set.of("n0", "n" + (ELEMENTS - 1))))
        .apply("value", ParDo.of(new ValueFn(view)).withSideInputs(view))
        .setCoder(StringUtf8Coder.of())
        .apply(Count.perElement())
        .apply(recorder.as("count"));
    PipelineResult result = pipeline.run();
    String first = "n0";
    String last = "n" + (ELEMENTS - 1);
    Await.until(
        "both splits to have read the view",
        () -> points.isReached(first) && points.isReached(last),
        result::getState);
    int before = lines(makers).size();
    long maker = Long.parseLong(lines(makers).get(before - 1).split(" ")[0]);
    assertThat(Set.of(points.processOf(first), points.processOf(last)), hasSize(2));
    LocalCluster.kill(maker);
    // The split on the other executor ends with what it has read.
    points.open(points.processOf(first) == maker ? last : first);
    assertThat(result.waitUntilFinish(), is(State.DONE));
    List<String> made = lines(makers);
    assertThat("how often the view was made", made.size(), greaterThan(before));
    // A run that was given up may have left a count of its own.
    String newest = made.get(made.size() - 1).split(" ")[1];
    assertThat(made.toString(), recorder.values("count"), hasItem(newest + "=" + ELEMENTS));
    assertThat(recorder.values("count"), everyItem(endsWith("=" + ELEMENTS)));
  }
}
