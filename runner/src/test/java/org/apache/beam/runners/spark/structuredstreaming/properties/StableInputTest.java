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
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.testing.OneTimeFaults;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Elements with a number drawn anew whenever they are made, in front of a DoFn that requires stable
 * input: every attempt at it sees the same ones, in the same order.
 */
class StableInputTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2,3]");

  private static final int ELEMENTS = 12;

  @TempDir Path directory;

  /** Gives an element another number in every attempt. */
  static final class NumberFn extends DoFn<String, String> {
    @ProcessElement
    public void process(@Element String element, OutputReceiver<String> out) {
      out.output(element + " " + UUID.randomUUID());
    }
  }

  /** Passes elements on. */
  static final class PassFn extends DoFn<String, String> {
    @ProcessElement
    public void process(@Element String element, OutputReceiver<String> out) {
      out.output(element);
    }
  }

  /** Passes elements on, and requires stable input. */
  static final class StableFn extends DoFn<String, String> {
    @RequiresStableInput
    @ProcessElement
    public void process(@Element String element, OutputReceiver<String> out) {
      out.output(element);
    }
  }

  /** Numbers the elements of a key in their order, and requires stable input. */
  static final class StableStatefulFn extends DoFn<KV<String, String>, String> {
    @StateId("seen")
    private final StateSpec<ValueState<Integer>> seen = StateSpecs.value(VarIntCoder.of());

    @RequiresStableInput
    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("seen") ValueState<Integer> state,
        OutputReceiver<String> out) {
      int before = state.read() == null ? 0 : state.read();
      state.write(before + 1);
      out.output(before + " " + element.getValue());
    }
  }

  private static PTransform<PCollection<String>, PCollection<String>> stateful() {
    return new PTransform<>("Write") {
      @Override
      public PCollection<String> expand(PCollection<String> input) {
        return input
            .apply(WithKeys.of((String s) -> "k").withKeyType(TypeDescriptors.strings()))
            .apply(ParDo.of(new StableStatefulFn()));
      }
    };
  }

  private static PTransform<PCollection<String>, PCollection<String>> write(
      DoFn<String, String> fn) {
    return new PTransform<>("Write") {
      @Override
      public PCollection<String> expand(PCollection<String> input) {
        return input.apply(ParDo.of(fn));
      }
    };
  }

  private Recorder recorder() {
    return new Recorder(directory.resolve("recorder"));
  }

  private OneTimeFaults faults() {
    return new OneTimeFaults(directory.resolve("faults"));
  }

  /** Twelve elements in three epochs; what was written fails at the sixth that is written. */
  private void build(
      Pipeline pipeline,
      String source,
      PTransform<PCollection<String>, PCollection<String>> write,
      boolean failing) {
    Script script = Script.split();
    for (int i = 0; i < ELEMENTS; i++) {
      script.at(i, "e" + (char) ('a' + i));
      if (i % 4 == 3) {
        script.watermark(i).epoch();
      }
    }
    PCollection<String> written =
        pipeline
            .apply(Script.read(source, script.end()))
            .apply(ParDo.of(new NumberFn()))
            .apply(write)
            .apply(recorder().as("written"));
    if (failing) {
      written
          .apply(ParDo.of(new LastNameFn()))
          .apply(faults().on("fault", Set.of("ef", "ek")));
    }
  }

  /** The name of an element alone. */
  static final class LastNameFn extends DoFn<String, String> {
    @ProcessElement
    public void process(@Element String element, OutputReceiver<String> out) {
      out.output(element.substring(element.indexOf('e'), element.indexOf('e') + 2));
    }
  }

  private RestartHarness harness(
      String source,
      PTransform<PCollection<String>, PCollection<String>> write,
      boolean failing,
      String... options) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint"),
        pipeline -> build(pipeline, source, write, failing),
        options);
  }

  /** All that was ever written, by failed attempts too, without repetitions. */
  private Set<String> everWritten() {
    return recorder().all("written").stream().map(Recorded::value).collect(Collectors.toSet());
  }

  private static List<String> names() {
    return IntStream.range(0, ELEMENTS).mapToObj(i -> "e" + (char) ('a' + i)).toList();
  }

  /** Each element under one number. */
  private void assertStable() {
    List<String> written =
        everWritten().stream().map(text -> text.substring(0, text.lastIndexOf(' '))).sorted().toList();
    assertThat(written, is(names()));
  }

  @Test
  void withoutStableInputARetryWritesOtherElements() {
    harness("unstable", write(new PassFn()), true, "--maxRestarts=0").runToTheEnd();
    assertThat(faults().happened("fault"), is(2));
    assertThat(everWritten().size(), greaterThan(ELEMENTS));
  }

  @Test
  void aTaskThatIsRetriedWritesTheSameElements() {
    harness("stable-retry", write(new StableFn()), true, "--maxRestarts=0").runToTheEnd();
    assertThat(faults().happened("fault"), is(2));
    assertStable();
  }

  @Test
  void aStatefulDoFnSeesTheElementsOfAKeyInTheirOrderInEveryAttempt() {
    harness("stable-keyed", stateful(), true, "--maxRestarts=0", "--parallelism=2").runToTheEnd();
    assertThat(faults().happened("fault"), is(2));
    List<String> written =
        everWritten().stream()
            .map(text -> text.substring(0, text.lastIndexOf(' ')))
            .map(text -> text.split(" ", -1)[1])
            .sorted()
            .toList();
    assertThat(written, is(names()));
  }

  @Test
  void restartsBehindEveryEpochWriteEachElementOnce() {
    RestartHarness harness = harness("stable-restart", write(new StableFn()), false);
    int runs = harness.runEpochByEpoch();
    assertThat(runs, greaterThan(3));
    assertThat(recorder().all("written").size(), is(ELEMENTS));
    assertStable();
    assertThat(
        recorder().seen("written").stream()
            .map(written -> written.value().charAt(1) - 'a' - written.timestampMillis() / 1000)
            .distinct()
            .toList(),
        is(List.of(0L)));
  }

  @Test
  void aPipelineThatIsStartedAnewAfterAFailureWritesTheSameElements() {
    RestartHarness harness =
        new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            pipeline -> build(pipeline, "stable-restarted", write(new StableFn()), true),
            "--maxRestarts=3");
    harness.runToTheEnd();
    assertStable();
  }
}
