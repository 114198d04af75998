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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.pipeline;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.translate;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.startsWith;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.function.Consumer;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.PassFn;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.StringsSource;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.IterableCoder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.NullableCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;

/** Which changed pipelines may continue a checkpoint. */
class PlanFingerprintTest {
  private static PlanFingerprint fingerprint(Consumer<Pipeline> build) {
    Pipeline pipeline = pipeline();
    build.accept(pipeline);
    PlanFingerprint fingerprint = PlanFingerprint.of(translate(pipeline));
    PlanFingerprint decoded = PlanFingerprint.decode(fingerprint.encode());
    assertThat(decoded, equalTo(fingerprint));
    return decoded;
  }

  private static List<String> differences(Consumer<Pipeline> before, Consumer<Pipeline> after) {
    return PlanFingerprint.incompatibilities(fingerprint(before), fingerprint(after));
  }

  private static PCollection<String> source(Pipeline pipeline, String name) {
    return pipeline.apply(name, Read.from(new StringsSource(false)));
  }

  private static PCollection<KV<String, String>> keyed(
      PCollection<String> input, long seconds, Coder<String> keyCoder) {
    return input
        .apply("window", Window.into(FixedWindows.of(Duration.standardSeconds(seconds))))
        .apply("keys", WithKeys.of("key"))
        .setCoder(KvCoder.of(keyCoder, StringUtf8Coder.of()));
  }

  private static PCollection<KV<String, Iterable<String>>> group(Pipeline pipeline) {
    return keyed(source(pipeline, "read"), 10, StringUtf8Coder.of())
        .apply("group", GroupByKey.create());
  }

  @Test
  void samePipelineContinues() {
    assertThat(differences(PlanFingerprintTest::group, PlanFingerprintTest::group), empty());
  }

  @Test
  void addedLeavesAndKeyedStepsBesideOthersContinue() {
    assertThat(
        differences(
            PlanFingerprintTest::group,
            pipeline -> {
              PCollection<String> read = source(pipeline, "read");
              PCollection<KV<String, String>> keyed = keyed(read, 10, StringUtf8Coder.of());
              keyed
                  .apply("group", GroupByKey.create())
                  .apply("leaf", ParDo.of(new PassFn<>()))
                  .setCoder(KvCoder.of(StringUtf8Coder.of(), IterableCoder.of(StringUtf8Coder.of())))
                  .apply("spread behind", Reshuffle.viaRandomKey());
              keyed.apply("count", Count.perKey());
            }),
        empty());
  }

  @Test
  void aStepWhoseStateIsOnAnotherLevelNowIsNamed() {
    assertThat(
        differences(
            PlanFingerprintTest::group,
            pipeline ->
                keyed(
                        source(pipeline, "read").apply("spread", Reshuffle.viaRandomKey()),
                        10,
                        StringUtf8Coder.of())
                    .apply("group", GroupByKey.create())),
        contains(
            "step 'group' (group-by-key) was on level 1 and is on level 2, as other shuffles are"
                + " before it now; its state is kept by level"));
  }

  @Test
  void aNewStepOnALevelThatHadNoStateIsNamed() {
    assertThat(
        differences(
            PlanFingerprintTest::group,
            pipeline -> group(pipeline).apply("again", GroupByKey.create())),
        contains("step 'again' (group-by-key) is new on level 2, which had no state"));
  }

  @Test
  void changedStateIsNamed() {
    assertThat(
        differences(
            PlanFingerprintTest::group,
            pipeline ->
                keyed(source(pipeline, "read"), 10, NullableCoder.of(StringUtf8Coder.of()))
                    .apply("group", GroupByKey.create())),
        contains(
            "step 'group' (group-by-key): its key coder was"
                + " org.apache.beam.sdk.coders.StringUtf8Coder and is"
                + " org.apache.beam.sdk.coders.NullableCoder"
                + "(org.apache.beam.sdk.coders.StringUtf8Coder)"));
    List<String> windows =
        differences(
            PlanFingerprintTest::group,
            pipeline ->
                keyed(source(pipeline, "read"), 20, StringUtf8Coder.of())
                    .apply("group", GroupByKey.create()));
    assertThat(windows, hasSize(1));
    assertThat(windows.get(0), startsWith("step 'group' (group-by-key): its windowing was"));
    List<String> triggers =
        differences(
            PlanFingerprintTest::group,
            pipeline ->
                keyed(source(pipeline, "read"), 10, StringUtf8Coder.of())
                    .apply(
                        "trigger",
                        Window.<KV<String, String>>configure()
                            .triggering(Repeatedly.forever(AfterPane.elementCountAtLeast(2)))
                            .withAllowedLateness(Duration.ZERO)
                            .discardingFiredPanes())
                    .apply("group", GroupByKey.create()));
    assertThat(triggers, hasSize(1));
    assertThat(triggers.get(0), containsString("Repeatedly.forever(AfterPane.elementCountAtLeast(2))"));
  }

  @Test
  void lostOrChangedStatefulStepIsNamed() {
    assertThat(
        differences(
            PlanFingerprintTest::group,
            pipeline ->
                keyed(source(pipeline, "read"), 10, StringUtf8Coder.of())
                    .apply("other", GroupByKey.create())),
        contains("step 'group' (group-by-key) is gone, but has state"));
    assertThat(
        differences(
            PlanFingerprintTest::group,
            pipeline ->
                keyed(source(pipeline, "read"), 10, StringUtf8Coder.of())
                    .apply("group", Reshuffle.of())),
        contains(
            "step 'group' (group-by-key) has become a step of kind redistribute, but has state"));
  }

  @Test
  void lostShuffleContinues() {
    assertThat(
        differences(
            pipeline -> source(pipeline, "read").apply("spread", Reshuffle.viaRandomKey()),
            pipeline -> source(pipeline, "read")),
        empty());
  }

  @Test
  void sourcesHaveToStayTheSameInTheSameOrder() {
    Consumer<Pipeline> two =
        pipeline -> {
          source(pipeline, "one");
          source(pipeline, "two");
        };
    assertThat(
        differences(
            two,
            pipeline -> {
              source(pipeline, "two");
              source(pipeline, "one");
            }),
        contains("the sources were in the order [one, two] and are in [two, one]"));
    assertThat(
        differences(
            two,
            pipeline -> {
              source(pipeline, "one");
              source(pipeline, "three");
            }),
        contains("source 'two' is gone", "source 'three' is new"));
  }

  @Test
  void namesWithTabsAndBackslashesSurvive() {
    PlanFingerprint fingerprint =
        fingerprint(pipeline -> source(pipeline, "a\tb\\n\nc\\"));
    assertThat(fingerprint.encode().lines().count(), equalTo(2L));
    assertThat(fingerprint.encode(), containsString("name=a\\tb\\\\n\\nc\\\\\t"));
  }

  @Test
  void foreignOrTruncatedTextIsRefused() {
    String encoded = fingerprint(PlanFingerprintTest::group).encode();
    assertThat(refusal("{}"), containsString("starts with 'beam-plan-fingerprint 1', found '{}'"));
    assertThat(refusal(""), containsString("found ''"));
    assertThat(refusal(encoded.substring(0, encoded.length() - 3)), containsString("truncated"));
    assertThat(refusal("beam-plan-fingerprint 1\nkind=read\n"), containsString("Line 2"));
    assertThat(refusal("beam-plan-fingerprint 1\nkind\n"), containsString("without '='"));
    assertThat(refusal("beam-plan-fingerprint 1\nkind=\\x\n"), containsString("before 'x'"));
  }

  private static String refusal(String text) {
    return assertThrows(IllegalArgumentException.class, () -> PlanFingerprint.decode(text))
        .getMessage();
  }
}
