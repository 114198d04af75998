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
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;

import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.SparkCounting;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.WithTimestamps;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.apache.spark.SparkEnv;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Views in batch pipelines: all kinds, in memory and on disk, in one job, made and fetched once. */
@Timeout(180)
class ViewsInBatchTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  /** A window has several chunks of a view, and no two windows the same elements. */
  private static final int SIDE_ELEMENTS = 4000;

  private static final int MAIN_ELEMENTS = 200;
  private static final int WINDOW_MILLIS = 50;
  private static final int WINDOWS = MAIN_ELEMENTS / WINDOW_MILLIS;
  private static final String PADDING = "x".repeat(200);

  private static final AtomicInteger SIDE_PROCESSED = new AtomicInteger();
  private static final AtomicInteger FILES_SEEN = new AtomicInteger();

  @TempDir Path directory;

  private static Pipeline pipeline(String name, String... more) {
    List<String> args = new ArrayList<>(List.of("--streaming=false", "--jobName=" + name));
    Collections.addAll(args, more);
    return Pipeline.create(SPARK.options(args.toArray(new String[0])));
  }

  /** Numbers from 0; {@code n} is in window number {@code n % WINDOWS}. */
  private static PCollection<Long> numbers(Pipeline pipeline, String name, int count) {
    return pipeline
        .apply(name, GenerateSequence.from(0).to(count))
        .apply(
            name + " times",
            WithTimestamps.of(n -> Instant.ofEpochMilli(n % WINDOWS * WINDOW_MILLIS)))
        .apply(name + " windows", Window.into(FixedWindows.of(Duration.millis(WINDOW_MILLIS))));
  }

  /** The temporary files and stores that Spark's directories hold now. */
  private static int temporaryFiles() {
    int files = 0;
    for (File root : SparkEnv.get().blockManager().diskBlockManager().localDirs()) {
      try (Stream<Path> all = Files.walk(root.toPath())) {
        files +=
            (int)
                all.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("temp_local") || name.startsWith("beam-state"))
                    .count();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return files;
  }

  private static final class CountingFn extends DoFn<Long, Long> {
    @ProcessElement
    public void processElement(@Element Long element, OutputReceiver<Long> output) {
      SIDE_PROCESSED.incrementAndGet();
      output.output(element);
    }
  }

  private record Views(
      PCollectionView<Iterable<String>> iterable,
      PCollectionView<List<String>> list,
      PCollectionView<List<String>> randomAccess,
      PCollectionView<Map<Long, String>> map,
      PCollectionView<Map<Long, Iterable<String>>> multimap,
      PCollectionView<Long> sum)
      implements Serializable {
    static Views of(PCollection<Long> side) {
      PCollection<String> texts =
          side.apply("texts", MapElements.into(TypeDescriptors.strings()).via(n -> n + PADDING));
      PCollection<KV<Long, String>> byNumber =
          side.apply(
              "by number",
              MapElements.into(TypeDescriptors.kvs(TypeDescriptors.longs(), TypeDescriptors.strings()))
                  .via(n -> KV.of(n, n + PADDING)));
      PCollection<KV<Long, String>> byRest =
          side.apply(
              "by rest",
              MapElements.into(TypeDescriptors.kvs(TypeDescriptors.longs(), TypeDescriptors.strings()))
                  .via(n -> KV.of(n % 10, n + PADDING)));
      return new Views(
          texts.apply("iterable", View.asIterable()),
          texts.apply("list", View.asList()),
          texts.apply("random access", View.<String>asList().withRandomAccess()),
          byNumber.apply("map", View.asMap()),
          byRest.apply("multimap", View.asMultimap()),
          side.apply("sum", Combine.globally(Sum.ofLongs()).asSingletonView()));
    }

    List<PCollectionView<?>> all() {
      return List.of(iterable, list, randomAccess, map, multimap, sum);
    }
  }

  /** What all views hold, said of one element and its window. */
  private static final class ReadingFn extends DoFn<Long, String> {
    private final Views views;

    ReadingFn(Views views) {
      this.views = views;
    }

    @ProcessElement
    public void processElement(ProcessContext context) {
      FILES_SEEN.accumulateAndGet(temporaryFiles(), Math::max);
      long n = context.element();
      long ofIterable = 0;
      for (String text : context.sideInput(views.iterable())) {
        ofIterable += number(text);
      }
      List<String> list = context.sideInput(views.list());
      List<String> randomAccess = context.sideInput(views.randomAccess());
      long ofRandomAccess = 0;
      for (int i = 0; i < randomAccess.size(); i += 97) {
        ofRandomAccess += number(randomAccess.get(i)) >= 0 ? 1 : 0;
      }
      Map<Long, String> map = context.sideInput(views.map());
      long ofMultimap = 0;
      for (String text : context.sideInput(views.multimap()).getOrDefault(n % 10, List.of())) {
        ofMultimap += number(text);
      }
      context.output(
          String.join(
              " ",
              "n=" + n,
              "iterable=" + ofIterable,
              "list=" + list.size(),
              "randomAccess=" + randomAccess.size() + "/" + ofRandomAccess,
              "map=" + map.size() + "/" + number(map.get(n)) + "/" + map.get(n + 1),
              "keys=" + new TreeSet<>(context.sideInput(views.multimap()).keySet()),
              "multimap=" + context.sideInput(views.multimap()).size() + "/" + ofMultimap,
              "sum=" + context.sideInput(views.sum())));
    }

    private static long number(String text) {
      return Long.parseLong(text.substring(0, text.length() - PADDING.length()));
    }
  }

  /** The same, worked out without a pipeline. */
  private static String expected(long n) {
    int size = SIDE_ELEMENTS / WINDOWS;
    long sum = 0;
    long ofRest = 0;
    Set<Long> rests = new HashSet<>();
    for (long side = n % WINDOWS; side < SIDE_ELEMENTS; side += WINDOWS) {
      sum += side;
      rests.add(side % 10);
      if (side % 10 == n % 10) {
        ofRest += side;
      }
    }
    return String.join(
        " ",
        "n=" + n,
        "iterable=" + sum,
        "list=" + size,
        "randomAccess=" + size + "/" + (size + 96) / 97,
        "map=" + size + "/" + n + "/null",
        "keys=" + new TreeSet<>(rests),
        "multimap=" + rests.size() + "/" + ofRest,
        "sum=" + sum);
  }

  private static List<String> allExpected() {
    return Stream.iterate(0L, n -> n + 1)
        .limit(MAIN_ELEMENTS)
        .map(ViewsInBatchTest::expected)
        .sorted()
        .toList();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 300_000, 1 << 26})
  void allKindsInMemoryAndOnDisk(long memoryBytes) {
    SIDE_PROCESSED.set(0);
    FILES_SEEN.set(0);
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    Pipeline pipeline =
        pipeline("kinds-" + memoryBytes, "--sideInputMemoryBytes=" + memoryBytes);
    Views views =
        Views.of(
            numbers(pipeline, "side", SIDE_ELEMENTS).apply("counted", ParDo.of(new CountingFn())));
    numbers(pipeline, "main", MAIN_ELEMENTS)
        .apply("read", ParDo.of(new ReadingFn(views)).withSideInputs(views.all()))
        .apply(recorder.as("read"));
    try (SparkCounting counting = SparkCounting.of(SPARK)) {
      assertThat(pipeline.run().waitUntilFinish(), is(State.DONE));
      SparkCounting.Epoch job = counting.epochs().get(SparkCounting.NO_EPOCH);
      assertThat(job.jobs(), is(1));
      // The side's source, its groupings, the main source with its reader; the end.
      assertThat(job.stages(), hasSize(4));
      assertThat(counting.cachedRdds(), empty());
    }
    assertThat(recorder.values("read").stream().sorted().toList(), is(allExpected()));
    assertThat(SIDE_PROCESSED.get(), is(SIDE_ELEMENTS));
    assertThat(FILES_SEEN.get() > 0, is(memoryBytes < 1 << 26));
    assertThat("files left", temporaryFiles(), is(0));
  }

  @Test
  void whatMakesTheViewAndIsReadWithItIsMadeOnce() {
    SIDE_PROCESSED.set(0);
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    Pipeline pipeline = pipeline("both-sides");
    PCollection<Long> both =
        numbers(pipeline, "both", SIDE_ELEMENTS).apply("counted", ParDo.of(new CountingFn()));
    PCollectionView<Long> sum = both.apply("sum", Combine.globally(Sum.ofLongs()).asSingletonView());
    both.apply(
            "first",
            ParDo.of(new OfSumFn(sum)).withSideInputs(sum))
        .apply(Reshuffle.viaRandomKey())
        .apply("again", ParDo.of(new OfSumFn(sum)).withSideInputs(sum))
        .apply("total", Combine.globally(Sum.ofLongs()).withoutDefaults())
        .apply(recorder.as("total"));
    try (SparkCounting counting = SparkCounting.of(SPARK)) {
      assertThat(pipeline.run().waitUntilFinish(), is(State.DONE));
      assertThat(counting.epochs().get(SparkCounting.NO_EPOCH).jobs(), is(1));
      assertThat(counting.cachedRdds(), empty());
    }
    List<String> totals = new ArrayList<>();
    for (int window = 0; window < WINDOWS; window++) {
      long total = 0;
      for (long n = window; n < SIDE_ELEMENTS; n += WINDOWS) {
        total += n;
      }
      int size = SIDE_ELEMENTS / WINDOWS;
      totals.add(Long.toString(total + 2L * size * total));
    }
    assertThat(
        recorder.values("total").stream().sorted().toList(), is(totals.stream().sorted().toList()));
    assertThat(SIDE_PROCESSED.get(), is(SIDE_ELEMENTS));
  }

  private static final class OfSumFn extends DoFn<Long, Long> {
    private final PCollectionView<Long> sum;

    OfSumFn(PCollectionView<Long> sum) {
      this.sum = sum;
    }

    @ProcessElement
    public void processElement(ProcessContext context) {
      context.output(context.element() + context.sideInput(sum));
    }
  }
}
