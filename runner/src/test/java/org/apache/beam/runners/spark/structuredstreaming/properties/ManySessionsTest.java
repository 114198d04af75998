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
import static org.hamcrest.Matchers.lessThan;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.Keys;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.WithTimestamps;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.transforms.windowing.WindowMappingFn;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The work for a key grows as its sessions do, and not as their square. */
@Timeout(180)
class ManySessionsTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  private static final int FEW = 100;
  private static final int TIMES = 4;
  private static final AtomicLong ENCODED = new AtomicLong();

  @TempDir Path directory;

  /** Counts, in this JVM, how often a window is encoded. */
  private static final class CountingWindowCoder extends CustomCoder<IntervalWindow> {
    @Override
    public void encode(IntervalWindow window, OutputStream out) throws IOException {
      ENCODED.incrementAndGet();
      IntervalWindow.getCoder().encode(window, out);
    }

    @Override
    public IntervalWindow decode(InputStream in) throws IOException {
      return IntervalWindow.getCoder().decode(in);
    }

    @Override
    public void verifyDeterministic() {}

    @Override
    public boolean equals(Object other) {
      return other instanceof CountingWindowCoder;
    }

    @Override
    public int hashCode() {
      return 1;
    }
  }

  /** Windows that might merge, of elements that are too far from each other for that. */
  private static final class FarSessions extends WindowFn<Object, IntervalWindow> {
    @Override
    public Collection<IntervalWindow> assignWindows(AssignContext context) {
      return List.of(new IntervalWindow(context.timestamp(), Duration.millis(1)));
    }

    @Override
    public void mergeWindows(MergeContext context) {}

    @Override
    @SuppressWarnings("deprecation") // abstract all the same
    public boolean isCompatible(WindowFn<?, ?> other) {
      return other instanceof FarSessions;
    }

    @Override
    public Coder<IntervalWindow> windowCoder() {
      return new CountingWindowCoder();
    }

    @Override
    public WindowMappingFn<IntervalWindow> getDefaultWindowMappingFn() {
      throw new UnsupportedOperationException("No side input is read.");
    }
  }

  /** How often windows are encoded for one key of so many sessions. */
  private long encodings(int sessions, boolean streaming) {
    Recorder recorder = new Recorder(directory.resolve("recorder-" + sessions));
    Pipeline pipeline =
        Pipeline.create(
            SPARK.options(
                "--streaming=" + streaming,
                "--parallelism=1",
                "--jobName=sessions-" + sessions + "-" + streaming));
    pipeline
        .apply(GenerateSequence.from(0).to(sessions))
        .apply(WithTimestamps.of(n -> Instant.ofEpochMilli(n * 10)))
        .apply(Window.into(new FarSessions()))
        .apply(WithKeys.of("k"))
        .apply(GroupByKey.create())
        .apply(Keys.create())
        .apply(recorder.as("panes"));
    long before = ENCODED.get();
    assertThat(pipeline.run().waitUntilFinish(), is(State.DONE));
    assertThat(recorder.values("panes"), hasSize(sessions));
    return ENCODED.get() - before;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofOneKey(boolean streaming) {
    long ofFew = encodings(FEW, streaming);
    assertThat(
        "encodings, of " + ofFew + " for a " + TIMES + "th of the sessions",
        encodings(TIMES * FEW, streaming),
        lessThan((TIMES + 2) * ofFew));
  }
}
