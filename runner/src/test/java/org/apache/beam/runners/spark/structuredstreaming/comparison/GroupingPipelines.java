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
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.Deduplicate;
import org.apache.beam.sdk.transforms.Distinct;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.GroupByEncryptedKey;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.GroupIntoBatches;
import org.apache.beam.sdk.transforms.Keys;
import org.apache.beam.sdk.transforms.KvSwap;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.Redistribute;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.Sets;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.join.CoGbkResult;
import org.apache.beam.sdk.transforms.join.CoGroupByKey;
import org.apache.beam.sdk.transforms.join.KeyedPCollectionTuple;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.util.Secret;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;

/** Transforms that bring equal elements or keys together, or deal elements out. */
final class GroupingPipelines {
  private static final TupleTag<Long> LEFT = new TupleTag<>("left");
  private static final TupleTag<Long> RIGHT = new TupleTag<>("right");

  private GroupingPipelines() {}

  static void addTo(Map<String, ComparedPipeline> all) {
    all.put("group by key", GroupingPipelines::groupByKey);
    all.put("join by CoGroupByKey", GroupingPipelines::coGroupByKey);
    all.put("batches", GroupingPipelines::batches);
    all.put("distinct", GroupingPipelines::distinct);
    all.put("deduplicate", GroupingPipelines::deduplicate);
    all.put("sets of two", GroupingPipelines::setsOfTwo);
    all.put("sets of many", GroupingPipelines::setsOfMany);
    all.put("redistribute", GroupingPipelines::redistribute);
  }

  private static void groupByKey(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    outcome.of("global window", pairs.apply("Global", GroupByKey.create()));
    outcome.of("encrypted", pairs.apply(GroupByEncryptedKey.create(new FixedSecret())));
    outcome.of(
        "twice",
        pairs
            .apply("First", GroupByKey.create())
            .apply(ComparedPipelines.mapValues(TypeDescriptors.integers(), GroupingPipelines::size))
            .apply(KvSwap.create())
            .apply("Second", GroupByKey.create()));
  }

  private static int size(Iterable<?> values) {
    int size = 0;
    for (Object ignored : values) {
      size++;
    }
    return size;
  }

  /** A key of 32 bytes, in the form that Beam wants. */
  private static final class FixedSecret implements Secret {
    @Override
    public byte[] getSecretBytes() {
      return Base64.getUrlEncoder().encode(new byte[32]);
    }
  }

  private static void coGroupByKey(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    PCollection<KV<String, Long>> few =
        pairs.apply(Filter.by((KV<String, Long> pair) -> pair.getValue() < 3));
    outcome.of(
        "joined",
        KeyedPCollectionTuple.of(LEFT, pairs)
            .and(RIGHT, few)
            .apply(CoGroupByKey.create())
            .apply(ComparedPipelines.mapValues(TypeDescriptors.strings(), GroupingPipelines::text)));
  }

  private static String text(CoGbkResult result) {
    List<Long> left = new ArrayList<>();
    result.getAll(LEFT).forEach(left::add);
    Collections.sort(left);
    return left + " and " + result.getOnly(RIGHT, -1L);
  }

  private static void batches(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    // What is in which batch, and when it is, depends on the order, the sizes do not.
    outcome.ofValues(
        "ofSize",
        pairs
            .apply("OfSize", GroupIntoBatches.ofSize(4))
            .apply(
                "Sizes",
                ComparedPipelines.mapValues(TypeDescriptors.integers(), GroupingPipelines::size)));
    outcome.ofValues(
        "ofByteSize",
        pairs
            .apply("OfByteSize", GroupIntoBatches.ofByteSize(16))
            .apply("BytesFlat", Values.create())
            .apply("Bytes", Flatten.iterables()));
    outcome.ofValues(
        "withShardedKey",
        pairs
            .apply("Sharded", GroupIntoBatches.<String, Long>ofSize(4).withShardedKey())
            .apply("ShardedFlat", Values.create())
            .apply("Elements", Flatten.iterables()));
  }

  private static void distinct(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    outcome.of("create", pairs.apply(Keys.create()).apply(Distinct.create()));
    outcome.of(
        "withRepresentativeValueFn",
        pairs
            .apply(
                Distinct.<KV<String, Long>, String>withRepresentativeValueFn(KV::getKey)
                    .withRepresentativeType(TypeDescriptors.strings()))
            .apply(
                "Representatives",
                MapElements.into(TypeDescriptors.strings()).via((KV<String, Long> pair) -> pair.getKey())));
    outcome.of(
        "in windows",
        pairs
            .apply(Window.into(FixedWindows.of(Duration.standardSeconds(30))))
            .apply("KeysInWindows", Keys.create())
            .apply("DistinctInWindows", Distinct.create()));
  }

  private static void deduplicate(Pipeline pipeline, Outcome outcome) {
    // All at one time, as which of equal elements comes first is up to the runner.
    PCollection<String> words = ComparedPipelines.words(pipeline);
    outcome.of(
        "values",
        words.apply(
            Deduplicate.<String>values()
                .withTimeDomain(TimeDomain.EVENT_TIME)
                .withDuration(Duration.standardMinutes(1))));
    outcome.of("values by processing time", words.apply("ByProcessingTime", Deduplicate.values()));
    outcome.of(
        "keyedValues",
        words
            .apply(WithKeys.of(String::length).withKeyType(TypeDescriptors.integers()))
            .apply(Deduplicate.keyedValues())
            .apply(Keys.create()));
    outcome.of(
        "withRepresentativeValueFn",
        words
            .apply(
                Deduplicate.<String, Integer>withRepresentativeValueFn(String::length)
                    .withRepresentativeCoder(VarIntCoder.of()))
            .apply("Lengths", MapElements.into(TypeDescriptors.integers()).via(String::length)));
  }

  private static PCollection<Long> some(Pipeline pipeline, String name, Long... numbers) {
    return pipeline.apply(name, Create.of(List.of(numbers)));
  }

  private static void setsOfTwo(Pipeline pipeline, Outcome outcome) {
    PCollection<Long> left = some(pipeline, "left", 1L, 1L, 1L, 2L, 3L, 3L, 5L);
    PCollection<Long> right = some(pipeline, "right", 1L, 1L, 3L, 4L, 4L);
    outcome.of("intersectDistinct", left.apply(Sets.intersectDistinct(right)));
    outcome.of("intersectAll", left.apply(Sets.intersectAll(right)));
    outcome.of("exceptDistinct", left.apply(Sets.exceptDistinct(right)));
    outcome.of("exceptAll", left.apply(Sets.exceptAll(right)));
    outcome.of("unionDistinct", left.apply(Sets.unionDistinct(right)));
    outcome.of("unionAll", left.apply(Sets.unionAll(right)));
  }

  private static void setsOfMany(Pipeline pipeline, Outcome outcome) {
    PCollectionList<Long> many =
        PCollectionList.of(some(pipeline, "first", 1L, 1L, 1L, 2L, 3L, 3L, 5L))
            .and(some(pipeline, "second", 1L, 1L, 3L, 4L, 4L))
            .and(some(pipeline, "third", 1L, 2L, 3L));
    outcome.of("intersectDistinct", many.apply(Sets.intersectDistinct()));
    outcome.of("intersectAll", many.apply(Sets.intersectAll()));
    outcome.of("exceptDistinct", many.apply(Sets.exceptDistinct()));
    outcome.of("exceptAll", many.apply(Sets.exceptAll()));
    outcome.of("unionDistinct", many.apply(Sets.unionDistinct()));
    outcome.of("unionAll", many.apply(Sets.unionAll()));
  }

  @SuppressWarnings("deprecation") // Reshuffle is in most of Beam's own IOs
  private static void redistribute(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs =
        ComparedPipelines.pairs(pipeline)
            .apply(
                Window.into(
                    SlidingWindows.of(Duration.standardSeconds(20))
                        .every(Duration.standardSeconds(10))));
    outcome.of("Reshuffle.of", pairs.apply(Reshuffle.of()));
    outcome.of("Reshuffle.viaRandomKey", pairs.apply(Reshuffle.viaRandomKey()));
    outcome.of(
        "Reshuffle of buckets",
        pairs.apply("Buckets", Reshuffle.<KV<String, Long>>viaRandomKey().withNumBuckets(3)));
    outcome.of("Redistribute.arbitrarily", pairs.apply(Redistribute.arbitrarily()));
    outcome.of("Redistribute.byKey", pairs.apply(Redistribute.byKey()));
  }
}
