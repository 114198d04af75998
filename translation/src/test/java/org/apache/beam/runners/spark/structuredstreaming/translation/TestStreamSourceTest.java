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
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.steps;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.translate;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.util.CoderUtils;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.beam.sdk.values.TimestampedValue;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a TestStream gives in which epoch, and to which processing time it brings it. */
class TestStreamSourceTest {
  private static final PipelineOptions OPTIONS = PipelineOptionsFactory.create();
  private static final String BEGINNING = BoundedWindow.TIMESTAMP_MIN_VALUE.toString();
  private static final String END = BoundedWindow.TIMESTAMP_MAX_VALUE.toString();

  private static TestStream<String> stream() {
    return TestStream.create(StringUtf8Coder.of())
        .addElements(at("a", 5), at("b", 3))
        .advanceProcessingTime(Duration.millis(70))
        .advanceWatermarkTo(Instant.ofEpochMilli(10))
        .addElements("c")
        .advanceProcessingTime(Duration.millis(7))
        .advanceWatermarkToInfinity();
  }

  private static TimestampedValue<String> at(String value, long millis) {
    return TimestampedValue.of(value, Instant.ofEpochMilli(millis));
  }

  /** The elements of an epoch with their timestamps, then the watermark. */
  private static String readEpoch(UnboundedReader<String> reader, boolean started)
      throws IOException {
    List<String> read = new ArrayList<>();
    boolean more = started ? reader.advance() : reader.start();
    while (more) {
      read.add(reader.getCurrent() + reader.getCurrentTimestamp().getMillis());
      more = reader.advance();
    }
    return read + " " + (reader.getWatermark().getMillis() == 10 ? "10" : reader.getWatermark());
  }

  /** Reads some epochs, by a new reader from the mark of the epoch before each or by one. */
  private static List<String> read(TestStreamSource<String> source, int epochs, boolean restored)
      throws IOException {
    List<String> all = new ArrayList<>();
    UnboundedReader<String> reader = source.createReader(OPTIONS, null);
    boolean started = false;
    for (int epoch = 0; epoch < epochs; epoch++) {
      all.add(readEpoch(reader, started));
      started = true;
      TestStreamMark mark = (TestStreamMark) reader.getCheckpointMark();
      if (restored) {
        byte[] coded = CoderUtils.encodeToByteArray(source.getCheckpointMarkCoder(), mark);
        reader =
            source.createReader(
                OPTIONS, CoderUtils.decodeFromByteArray(source.getCheckpointMarkCoder(), coded));
        started = false;
      }
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anEpochHasOneEventAlsoBehindARestoredMark(boolean restored) throws IOException {
    TestStreamSource<String> source = SerializableUtils.clone(TestStreamSource.of(stream()));
    assertThat(source.endEpoch(), is(6L));
    assertThat(
        read(source, 7, restored),
        contains(
            "[a5, b3] " + BEGINNING,
            "[] " + BEGINNING,
            "[] 10",
            "[c10] 10",
            "[] 10",
            "[] " + END,
            "[] " + END));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void epochsBetweenEventsHaveNone(boolean restored) throws IOException {
    TestStreamSource<String> source = TestStreamSource.of(stream()).withPeriod(2);
    assertThat(source.endEpoch(), is(12L));
    assertThat(
        read(source, 8, restored),
        contains(
            "[a5, b3] " + BEGINNING,
            "[] " + BEGINNING,
            "[] " + BEGINNING,
            "[] " + BEGINNING,
            "[] 10",
            "[] 10",
            "[c10] 10",
            "[] 10"));
  }

  @Test
  void processingTimeAdvancesByTheEventsSoFar() {
    TestStreamSource<String> source = TestStreamSource.of(stream());
    List<Long> advances = new ArrayList<>();
    for (int epoch = 0; epoch < 7; epoch++) {
      advances.add(source.advanceMillisUpTo(epoch));
    }
    assertThat(advances, contains(0L, 70L, 70L, 70L, 77L, 77L, 77L));
    assertThat(source.withPeriod(3).advanceMillisUpTo(2), is(0L));
    assertThat(source.withPeriod(3).advanceMillisUpTo(3), is(70L));
    assertThat(source.withPeriod(3).advanceMillisUpTo(1000), is(77L));
  }

  @Test
  void aStreamThatEndsBeforeTheEndOfTimeComesToItAtItsEnd() throws IOException {
    TestStream<String> cut =
        TestStream.fromRawEvents(StringUtf8Coder.of(), stream().getEvents().subList(0, 1));
    assertThat(
        read(TestStreamSource.of(cut), 2, false),
        contains("[a5, b3] " + BEGINNING, "[] " + END));
  }

  @Test
  void severalStreamsAreSeveralSources() {
    Pipeline pipeline = pipeline();
    pipeline.apply("one", stream());
    pipeline.apply("two", stream());
    Plan plan = translate(pipeline);
    assertThat(steps(plan, ReadStep.class), equalTo(plan.sources()));
    assertThat(plan.testStreams(), hasSize(2));
  }

  @Test
  void aStreamOfOtherEventsHasAnotherFingerprint() {
    TestStream<String> other =
        TestStream.fromRawEvents(StringUtf8Coder.of(), stream().getEvents().subList(0, 3));
    String fingerprint = TestStreamSource.of(stream()).fingerprint();
    assertThat(TestStreamSource.of(stream()).fingerprint(), equalTo(fingerprint));
    assertThat(TestStreamSource.of(other).fingerprint(), not(equalTo(fingerprint)));
    assertThat(
        TestStreamSource.of(stream()).withPeriod(2).fingerprint(), not(equalTo(fingerprint)));
  }
}
