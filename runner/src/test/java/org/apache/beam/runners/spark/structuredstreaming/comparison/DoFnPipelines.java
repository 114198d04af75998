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
package org.apache.beam.runners.spark.structuredstreaming.comparison;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.SerializableCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.range.ByteKey;
import org.apache.beam.sdk.io.range.ByteKeyRange;
import org.apache.beam.sdk.io.range.OffsetRange;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.CombiningState;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.Distinct;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.PeriodicImpulse;
import org.apache.beam.sdk.transforms.PeriodicSequence;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.Watch;
import org.apache.beam.sdk.transforms.splittabledofn.ByteKeyRangeTracker;
import org.apache.beam.sdk.transforms.splittabledofn.OffsetRangeTracker;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionTuple;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TupleTagList;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** DoFns with outputs, bundles, state, timers and restrictions, and the transforms that are made of these. */
final class DoFnPipelines {
  private static final TupleTag<Long> EVEN = new TupleTag<>() {};
  private static final TupleTag<String> ODD = new TupleTag<>() {};

  private DoFnPipelines() {}

  static void addTo(Map<String, ComparedPipeline> all) {
    all.put("several outputs", DoFnPipelines::severalOutputs);
    all.put("bundles", DoFnPipelines::bundles);
    all.put("state and timers", DoFnPipelines::state);
    all.put("time sorted input", DoFnPipelines::sorted);
    all.put("restrictions of offsets", DoFnPipelines::offsets);
    all.put("restrictions of keys", DoFnPipelines::byteKeys);
    all.put("watch", DoFnPipelines::watch);
    all.put("periodic", DoFnPipelines::periodic);
  }

  private static void severalOutputs(Pipeline pipeline, Outcome outcome) {
    PCollectionTuple outputs =
        ComparedPipelines.numbers(pipeline)
            .apply(ParDo.of(new ParityFn()).withOutputTags(EVEN, TupleTagList.of(ODD)));
    outcome.of("even", outputs.get(EVEN));
    outcome.of("odd", outputs.get(ODD));
  }

  private static final class ParityFn extends DoFn<Long, Long> {
    @ProcessElement
    public void process(@Element Long number, MultiOutputReceiver out) {
      if (number % 2 == 0) {
        out.get(EVEN).output(number);
      } else {
        out.get(ODD).output("odd " + number);
      }
    }
  }

  /** How elements are dealt out to bundles is up to the runner: what all of them give together is not. */
  private static void bundles(Pipeline pipeline, Outcome outcome) {
    outcome.of(
        "sum of all bundles",
        ComparedPipelines.numbers(pipeline)
            .apply(ParDo.of(new SumOfBundleFn()))
            .apply(Sum.longsGlobally()));
  }

  private static final class SumOfBundleFn extends DoFn<Long, Long> {
    private transient long sum;

    @StartBundle
    public void startBundle() {
      sum = 0;
    }

    @ProcessElement
    public void process(@Element Long number) {
      sum += number;
    }

    @FinishBundle
    public void finishBundle(FinishBundleContext c) {
      c.output(sum, Instant.EPOCH, GlobalWindow.INSTANCE);
    }
  }

  private static void state(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    outcome.of("all cells of a key", pairs.apply("Global", ParDo.of(new StateFn())));
    outcome.of(
        "in windows",
        pairs
            .apply(Window.into(FixedWindows.of(Duration.standardSeconds(40))))
            .apply("Windows", ParDo.of(new StateFn())));
  }

  /** Sums up in state; says the sum at the end of the window, and the set of values when it expires. */
  static final class StateFn extends DoFn<KV<String, Long>, String> {
    @StateId("key")
    final StateSpec<ValueState<String>> keySpec = StateSpecs.value(StringUtf8Coder.of());

    @StateId("sum")
    final StateSpec<CombiningState<Long, long[], Long>> sumSpec =
        StateSpecs.combining(Sum.ofLongs());

    @StateId("values")
    final StateSpec<BagState<Long>> valuesSpec = StateSpecs.bag(VarLongCoder.of());

    @TimerId("end")
    final TimerSpec endSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @ProcessElement
    public void process(
        @Element KV<String, Long> pair,
        BoundedWindow window,
        @StateId("key") ValueState<String> key,
        @StateId("sum") CombiningState<Long, long[], Long> sum,
        @StateId("values") BagState<Long> values,
        @TimerId("end") Timer end) {
      key.write(pair.getKey());
      sum.add(pair.getValue());
      values.add(pair.getValue());
      end.withOutputTimestamp(window.maxTimestamp()).set(window.maxTimestamp());
    }

    @OnTimer("end")
    public void onEnd(
        OutputReceiver<String> out,
        @StateId("key") ValueState<String> key,
        @StateId("sum") CombiningState<Long, long[], Long> sum) {
      out.output(key.read() + " has " + sum.read());
    }

    @OnWindowExpiration
    public void onExpiration(
        OutputReceiver<String> out,
        @StateId("key") ValueState<String> key,
        @StateId("values") BagState<Long> values) {
      List<Long> all = new ArrayList<>();
      values.read().forEach(all::add);
      Collections.sort(all);
      out.output(key.read() + " had " + all);
    }
  }

  private static void sorted(Pipeline pipeline, Outcome outcome) {
    outcome.of("differences", ComparedPipelines.pairs(pipeline).apply(ParDo.of(new DifferenceFn())));
  }

  /** What is between a value of a key and the one before it in time. */
  static final class DifferenceFn extends DoFn<KV<String, Long>, KV<String, Long>> {
    @StateId("last")
    final StateSpec<ValueState<Long>> lastSpec = StateSpecs.value(VarLongCoder.of());

    @RequiresTimeSortedInput
    @ProcessElement
    public void process(
        @Element KV<String, Long> pair,
        @StateId("last") ValueState<Long> last,
        OutputReceiver<KV<String, Long>> out) {
      Long before = last.read();
      out.output(KV.of(pair.getKey(), before == null ? -1 : pair.getValue() - before));
      last.write(pair.getValue());
    }
  }

  private static void offsets(Pipeline pipeline, Outcome outcome) {
    outcome.of("offsets", ComparedPipelines.words(pipeline).apply(ParDo.of(new LettersFn())));
  }

  /** The letters of words, each with its place. */
  static final class LettersFn extends DoFn<String, KV<String, Long>> {
    @GetInitialRestriction
    public OffsetRange initial(@Element String word) {
      return new OffsetRange(0, word.length());
    }

    @SplitRestriction
    public void split(@Restriction OffsetRange range, OutputReceiver<OffsetRange> out) {
      range.split(2, 1).forEach(out::output);
    }

    @NewTracker
    public OffsetRangeTracker tracker(@Restriction OffsetRange range) {
      return new OffsetRangeTracker(range);
    }

    @ProcessElement
    public void process(
        @Element String word,
        RestrictionTracker<OffsetRange, Long> tracker,
        OutputReceiver<KV<String, Long>> out) {
      for (long i = tracker.currentRestriction().getFrom(); tracker.tryClaim(i); i++) {
        out.output(KV.of(word.substring((int) i, (int) i + 1), i));
      }
    }
  }

  private static void byteKeys(Pipeline pipeline, Outcome outcome) {
    outcome.of("byte keys", ComparedPipelines.words(pipeline).apply(ParDo.of(new BytesFn())));
  }

  /** The keys of one byte up to the first one of a word. */
  static final class BytesFn extends DoFn<String, KV<String, Integer>> {
    @GetInitialRestriction
    public ByteKeyRange initial(@Element String word) {
      return ByteKeyRange.of(ByteKey.of('a'), ByteKey.of(word.charAt(0)));
    }

    @NewTracker
    public ByteKeyRangeTracker tracker(@Restriction ByteKeyRange range) {
      return ByteKeyRangeTracker.of(range);
    }

    @GetRestrictionCoder
    public Coder<ByteKeyRange> coder() {
      return SerializableCoder.of(ByteKeyRange.class);
    }

    @ProcessElement
    public void process(
        @Element String word,
        RestrictionTracker<ByteKeyRange, ByteKey> tracker,
        OutputReceiver<KV<String, Integer>> out) {
      for (int letter = tracker.currentRestriction().getStartKey().getBytes()[0];
          tracker.tryClaim(ByteKey.of(letter));
          letter++) {
        out.output(KV.of(word, letter));
      }
    }
  }

  private static void watch(Pipeline pipeline, Outcome outcome) {
    outcome.of(
        "growth",
        ComparedPipelines.words(pipeline)
            .apply(Distinct.create())
            .apply(
                Watch.growthOf(new LettersPoll())
                    .withPollInterval(Duration.millis(10))
                    .withOutputCoder(StringUtf8Coder.of())
                    .withTerminationPerInput(Watch.Growth.never())));
  }

  /** All letters of a word at once, and no more of them after that. */
  private static final class LettersPoll extends Watch.Growth.PollFn<String, String> {
    @Override
    public Watch.Growth.PollResult<String> apply(String word, Context c) {
      return Watch.Growth.PollResult.complete(
          Instant.ofEpochMilli(word.length()),
          word.chars().mapToObj(Character::toString).distinct().toList());
    }
  }

  private static void periodic(Pipeline pipeline, Outcome outcome) {
    Instant start = Instant.ofEpochSecond(1_000_000);
    outcome.of(
        "impulse",
        pipeline.apply(
            PeriodicImpulse.create()
                .startAt(start)
                .stopAt(start.plus(Duration.standardSeconds(100)))
                .withInterval(Duration.standardSeconds(10))));
    outcome.of(
        "sequence",
        pipeline
            .apply(
                Create.of(
                    new PeriodicSequence.SequenceDefinition(
                        start, start.plus(Duration.standardSeconds(30)), Duration.standardSeconds(5))))
            .apply(PeriodicSequence.create()));
  }
}
