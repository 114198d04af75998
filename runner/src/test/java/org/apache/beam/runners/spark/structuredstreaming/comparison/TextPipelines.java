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

import java.util.List;
import java.util.Map;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.Regex;
import org.apache.beam.sdk.transforms.ToString;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;

/** Transforms of text. */
final class TextPipelines {
  private static final String LETTERS = "(\\w)(?<tail>\\w*)";

  private TextPipelines() {}

  static void addTo(Map<String, ComparedPipeline> all) {
    all.put("text of elements", TextPipelines::texts);
    all.put("matches of patterns", TextPipelines::matches);
    all.put("findings of patterns", TextPipelines::findings);
  }

  private static void texts(Pipeline pipeline, Outcome outcome) {
    PCollection<KV<String, Long>> pairs = ComparedPipelines.pairs(pipeline);
    outcome.of("kvs", pairs.apply(ToString.kvs()));
    outcome.of("kvs with delimiter", pairs.apply("Delimited", ToString.kvs("->")));
    outcome.of("elements", pairs.apply(Values.create()).apply(ToString.elements()));
    outcome.of(
        "iterables",
        pairs
            .apply(
                MapElements.into(TypeDescriptors.iterables(TypeDescriptors.longs()))
                    .via(pair -> List.of(pair.getValue(), 1L)))
            .apply(ToString.iterables("/")));
  }

  private static void matches(Pipeline pipeline, Outcome outcome) {
    PCollection<String> words = ComparedPipelines.words(pipeline);
    outcome.of("matches", words.apply("Matches", Regex.matches("t.*")));
    outcome.of("matches group", words.apply("Group", Regex.matches(LETTERS, 1)));
    outcome.of("matches name", words.apply(Regex.matches(LETTERS, "tail")));
    outcome.of("allMatches", words.apply(Regex.allMatches(LETTERS)));
    outcome.of("matchesKV", words.apply(Regex.matchesKV(LETTERS, 1, 2)));
    outcome.of("matchesKV names", words.apply(Regex.matchesKV("(?<head>\\w)(?<tail>\\w*)", "head", "tail")));
  }

  private static void findings(Pipeline pipeline, Outcome outcome) {
    PCollection<String> words = ComparedPipelines.words(pipeline);
    outcome.of("find", words.apply("Find", Regex.find("[aeiou]")));
    outcome.of("find name", words.apply(Regex.find(LETTERS, "tail")));
    outcome.of("findAll", words.apply(Regex.findAll("([aeiou])")));
    outcome.of("findKV", words.apply(Regex.findKV(LETTERS, 1, 2)));
    outcome.of("findKV names", words.apply(Regex.findKV("(?<head>\\w)(?<tail>\\w*)", "head", "tail")));
    outcome.of("replaceAll", words.apply(Regex.replaceAll("[aeiou]", "_")));
    outcome.of("replaceFirst", words.apply(Regex.replaceFirst("[aeiou]", "_")));
    outcome.of("split", words.apply("Split", Regex.split("[aeiou]", true)));
    outcome.of("split without empty ones", words.apply("SplitFew", Regex.split("[aeiou]")));
  }
}
