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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;

/**
 * A pipeline whose committed results are the same whatever fails on the way: two splits of 20 records
 * each, in three keys and windows of 8 seconds, grouped (by state rows of windows) and summed (by
 * partial accumulators). Lost or repeated records change a result; a result that two epochs commit is
 * seen twice. Faults strike before the shuffle, at {@code "r<split>-<second>"}, and behind it.
 */
public final class RecoveryPipeline {
  public static final String BEFORE = "faults before the shuffle";
  public static final String BEHIND = "faults behind the shuffle";

  private static final int SPLITS = 2;
  private static final int SECONDS = 20;
  private static final int KEYS = 3;
  private static final int WINDOW = 8;

  private final String source;
  private final Recorder recorder;
  private final OneTimeFaults faults;
  private final Set<String> before;
  private final Set<String> behind;

  /**
   * A pipeline of a test of its own.
   *
   * @param source the name of the source's trace
   * @param before records that fail once
   * @param behind groups, as {@link #groups} has them, that fail once
   */
  public RecoveryPipeline(String source, Path directory, Set<String> before, Set<String> behind) {
    this.source = source;
    this.recorder = new Recorder(directory.resolve("recorder"));
    this.faults = new OneTimeFaults(directory.resolve("faults"));
    this.before = before;
    this.behind = behind;
  }

  public Recorder recorder() {
    return recorder;
  }

  public OneTimeFaults faults() {
    return faults;
  }

  /** Builds the pipeline. */
  public void build(Pipeline pipeline) {
    build(pipeline, step -> step, step -> step);
  }

  /** Builds the pipeline with steps put in right behind the source and right behind the groups. */
  public void build(Pipeline pipeline, Inserted<String> records, Inserted<String> groups) {
    PCollection<String> read =
        records.into(pipeline.apply(Script.read(source, split(0), split(1))));
    PCollection<KV<String, String>> keyed =
        read.apply(faults.on(BEFORE, before))
            .apply(Window.into(FixedWindows.of(Duration.standardSeconds(WINDOW))))
            .apply("key", ParDo.of(new KeyFn()));
    PCollection<String> texts =
        keyed
            .apply(GroupByKey.create())
            .apply("text", MapElements.into(TypeDescriptors.strings()).via(Recorder::text));
    groups.into(texts).apply(faults.on(BEHIND, behind)).apply(recorder.as("groups"));
    keyed
        .apply(
            "number",
            MapElements.into(
                    TypeDescriptors.kvs(TypeDescriptors.strings(), TypeDescriptors.longs()))
                .via((KV<String, String> pair) -> KV.of(pair.getKey(), number(pair.getValue()))))
        .apply(Sum.longsPerKey())
        .apply(recorder.as("sums"));
  }

  /** Steps put into the pipeline. */
  @FunctionalInterface
  public interface Inserted<T> {
    PCollection<T> into(PCollection<T> before);
  }

  /** Asserts that exactly the right results are committed, each by one epoch. */
  public void assertExact() {
    assertThat(recorder.values("groups"), is(groups()));
    assertThat(recorder.values("sums"), is(sums()));
  }

  /** All records, in order. */
  public static List<String> records() {
    List<String> records = new ArrayList<>();
    for (int split = 0; split < SPLITS; split++) {
      for (int second = 0; second < SECONDS; second++) {
        records.add(record(split, second));
      }
    }
    return records;
  }

  /** The texts of all groups, sorted. */
  public static List<String> groups() {
    return results((key, values) -> key + "=" + values.stream().sorted().toList());
  }

  private static List<String> sums() {
    return results(
        (key, values) ->
            key + "=" + values.stream().mapToLong(RecoveryPipeline::number).sum());
  }

  private static List<String> results(BiFunction<String, List<String>, String> result) {
    return records().stream()
        .collect(
            Collectors.groupingBy(
                value -> number(value) / WINDOW + "/" + key(value),
                TreeMap::new,
                Collectors.toList()))
        .values()
        .stream()
        .map(values -> result.apply(key(values.get(0)), values))
        .sorted()
        .toList();
  }

  private static Script split(int split) {
    Script script = Script.split();
    IntStream.range(0, SECONDS)
        .forEach(second -> script.at(second, record(split, second)).watermark(second));
    return script.end();
  }

  private static String record(int split, int second) {
    return "r" + split + "-" + second;
  }

  private static long number(String record) {
    return Long.parseLong(record.substring(record.indexOf('-') + 1));
  }

  private static String key(String record) {
    return "k" + number(record) % KEYS;
  }

  private static final class KeyFn extends DoFn<String, KV<String, String>> {
    @ProcessElement
    public void process(@Element String record, OutputReceiver<KV<String, String>> out) {
      out.output(KV.of(key(record), record));
    }
  }
}
