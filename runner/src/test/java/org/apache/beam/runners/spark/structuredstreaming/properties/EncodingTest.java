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
import org.apache.beam.runners.spark.structuredstreaming.testing.CountingCoder;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.Values;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Elements are encoded where they enter a shuffle, once, and nowhere else. */
class EncodingTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  private static final int ELEMENTS = 10;

  @TempDir Path directory;

  private static PTransform<PCollection<? extends String>, PCollection<String>> same() {
    return MapElements.into(TypeDescriptors.strings()).via((String s) -> s);
  }

  private static PCollection<String> counted(PCollection<String> collection, String name) {
    return collection.setCoder(CountingCoder.named(name));
  }

  private static Script tenInThreeEpochs() {
    Script script = Script.split();
    for (int i = 0; i < ELEMENTS; i++) {
      script.at(i, "e" + i);
      if (i % 4 == 3) {
        script.epoch();
      }
    }
    return script.epoch().end();
  }

  @Test
  void anElementIsEncodedOnceForEachShuffleAndNeverBetweenFusedSteps() {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            p -> {
              PCollection<String> read =
                  p.apply(
                      Read.from(
                          Script.source("encoding", tenInThreeEpochs())
                              .withOutputCoder(CountingCoder.named("read"))));
              PCollection<String> first = counted(read.apply("first", same()), "first");
              PCollection<String> second = counted(first.apply("second", same()), "second");
              PCollection<String> values =
                  second
                      .apply(PanePath.BY_WINDOW.fixedWindows(100, 0, false))
                      .apply(WithKeys.of((String s) -> "k").withKeyType(TypeDescriptors.strings()))
                      .setCoder(KvCoder.of(StringUtf8Coder.of(), CountingCoder.named("grouped")))
                      .apply(GroupByKey.create())
                      .apply(Values.create())
                      .apply(Flatten.iterables());
              counted(counted(values, "values").apply("third", same()), "reshuffled")
                  .apply(Reshuffle.viaRandomKey())
                  .apply("fourth", same())
                  .apply(recorder.as("result"));
            })
        .runToTheEnd();

    assertThat(recorder.all("result"), hasSize(ELEMENTS));
    for (String fused : List.of("read", "first", "second", "values")) {
      assertThat(fused, CountingCoder.encoded(fused), is(0));
      assertThat(fused, CountingCoder.decoded(fused), is(0));
    }
    for (String shuffled : List.of("grouped", "reshuffled")) {
      assertThat(shuffled, CountingCoder.encoded(shuffled), is(ELEMENTS));
      assertThat(shuffled, CountingCoder.decoded(shuffled), is(ELEMENTS));
    }
  }
}
