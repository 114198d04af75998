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
import static org.hamcrest.Matchers.greaterThan;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CoderRegistry;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.coders.ListCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Combines whose accumulators demand care. */
class CombineCasesTest extends PipelineCase {
  private static <T> Window<T> liftedOrNot(boolean lifted, Window<T> windows) {
    return lifted ? windows : withoutLifting(windows);
  }

  /** Collects in lists that it changes wherever it may. */
  private static class MutatingFn extends CombineFn<String, List<String>, String> {
    @Override
    public List<String> createAccumulator() {
      return new ArrayList<>();
    }

    @Override
    public List<String> addInput(List<String> accumulator, String input) {
      accumulator.add(input);
      return accumulator;
    }

    @Override
    public List<String> mergeAccumulators(Iterable<List<String>> accumulators) {
      List<String> first = null;
      for (List<String> accumulator : accumulators) {
        if (first == null) {
          first = accumulator;
        } else {
          first.addAll(accumulator);
        }
      }
      return first == null ? createAccumulator() : first;
    }

    @Override
    public String extractOutput(List<String> accumulator) {
      return accumulator.stream().sorted().toList().toString();
    }

    @Override
    public Coder<List<String>> getAccumulatorCoder(CoderRegistry registry, Coder<String> inputCoder) {
      return ListCoder.of(StringUtf8Coder.of());
    }
  }

  /** apache/beam#13061: an accumulator that is changed must not be that of another window too. */
  @ParameterizedTest
  @CsvSource({"true,true", "true,false", "false,true", "false,false"})
  void windowsDoNotShareAnAccumulator(boolean lifted, boolean oneEpoch) {
    Script script = Script.split().at(2, "a");
    (oneEpoch ? script : script.epoch()).at(4, "b").epoch().end();
    Window<String> windows =
        Window.into(
            SlidingWindows.of(Duration.standardSeconds(3)).every(Duration.standardSeconds(1)));
    run(
        p ->
            p.apply(Script.read("accumulators-" + lifted + oneEpoch, script))
                .apply(liftedOrNot(lifted, windows))
                .apply(keyed())
                .apply(Combine.perKey(new MutatingFn()))
                .apply(recorder.as("panes")));
    assertThat(
        panes("panes", pane -> pane.value() + " to " + pane.window()),
        contains(
            "k=[a] to 2999",
            "k=[a] to 3999",
            "k=[a, b] to 4999",
            "k=[b] to 5999",
            "k=[b] to 6999"));
  }

  /** An accumulator that no coder is known for but the one that the function names. */
  private static final class Pair {
    private final long sum;
    private final long count;

    Pair(long sum, long count) {
      this.sum = sum;
      this.count = count;
    }
  }

  private static final class PairCoder extends CustomCoder<Pair> {
    @Override
    public void encode(Pair pair, OutputStream out) throws IOException {
      DataOutputStream data = new DataOutputStream(out);
      data.writeLong(pair.sum);
      data.writeLong(pair.count);
    }

    @Override
    public Pair decode(InputStream in) throws IOException {
      DataInputStream data = new DataInputStream(in);
      long sum = data.readLong();
      return new Pair(sum, data.readLong());
    }
  }

  private static final class PairFn extends CombineFn<String, Pair, String> {
    @Override
    public Pair createAccumulator() {
      return new Pair(0, 0);
    }

    @Override
    public Pair addInput(Pair pair, String input) {
      return new Pair(pair.sum + Long.parseLong(input), pair.count + 1);
    }

    @Override
    public Pair mergeAccumulators(Iterable<Pair> pairs) {
      long sum = 0;
      long count = 0;
      for (Pair pair : pairs) {
        sum += pair.sum;
        count += pair.count;
      }
      return new Pair(sum, count);
    }

    @Override
    public String extractOutput(Pair pair) {
      return pair.sum + "/" + pair.count;
    }

    @Override
    public Coder<Pair> getAccumulatorCoder(CoderRegistry registry, Coder<String> inputCoder) {
      return new PairCoder();
    }
  }

  private static Script threeEpochs() {
    return Script.split()
        .at(1, "1").at(2, "2").epoch()
        .at(3, "3").watermark(3).epoch()
        .at(4, "4").at(11, "11").epoch()
        .end();
  }

  private static Window<String> tenSeconds() {
    return Window.into(FixedWindows.of(Duration.standardSeconds(10)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void accumulatorsAreEncodedWithTheCoderOfTheirFunction(boolean lifted) {
    run(
        p ->
            p.apply(Script.read("own-coder-" + lifted, threeEpochs()))
                .apply(liftedOrNot(lifted, tenSeconds()))
                .apply(keyed())
                .apply(Combine.perKey(new PairFn()))
                .apply(recorder.as("panes")));
    assertThat(recorder.values("panes"), contains("k=10/4", "k=11/1"));
  }

  /** Leaves its accumulators full of what {@code compact} takes out. */
  private static final class CompactingFn extends MutatingFn {
    private static final AtomicInteger COMPACTED = new AtomicInteger();

    @Override
    public List<String> compact(List<String> accumulator) {
      COMPACTED.incrementAndGet();
      long sum = accumulator.stream().mapToLong(Long::parseLong).sum();
      return new ArrayList<>(List.of(Long.toString(sum)));
    }

    @Override
    public String extractOutput(List<String> accumulator) {
      return compact(accumulator).get(0);
    }
  }

  @Test
  void partialAccumulatorsAreCompactedBeforeTheyAreSent() {
    run(
        p ->
            p.apply(Script.read("compact", threeEpochs()))
                .apply(tenSeconds())
                .apply(keyed())
                .apply(Combine.perKey(new CompactingFn()))
                .apply(recorder.as("panes")));
    assertThat(recorder.values("panes"), contains("k=10", "k=11"));
    // Two results are extracted, each by one call of the function's own.
    assertThat(CompactingFn.COMPACTED.get(), greaterThan(2));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aHotKeySpreadByAFanoutGivesOneResult(boolean lifted) {
    run(
        p ->
            p.apply(Script.read("fanout-" + lifted, threeEpochs()))
                .apply(liftedOrNot(lifted, tenSeconds()))
                .apply(keyed())
                .apply(Combine.<String, String, String>perKey(new PairFn()).withHotKeyFanout(3))
                .apply(recorder.as("panes")));
    assertThat(recorder.values("panes"), contains("k=10/4", "k=11/1"));
  }
}
