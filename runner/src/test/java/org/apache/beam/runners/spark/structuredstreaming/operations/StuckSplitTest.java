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
package org.apache.beam.runners.spark.structuredstreaming.operations;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.operations.StuckCode.Kind;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.io.BoundedSource;
import org.apache.beam.sdk.io.CountingSource;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.ParDo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A pipeline is cancelled while its source is being split, on the driver, by code that does not return,
 * and can be started again while that code is still there.
 */
class StuckSplitTest {
  @TempDir Path directory;

  /** The call of a source that is stuck. */
  enum Place {
    SIZE,
    SPLIT
  }

  /** The numbers 0 and 1. */
  private static final class StuckSource extends BoundedSource<Long> {
    @SuppressWarnings("deprecation") // in favour of transforms, of which none can be wrapped
    private final BoundedSource<Long> numbers = CountingSource.upTo(2);
    private final Kind kind;
    private final Place place;

    StuckSource(Kind kind, Place place) {
      this.kind = kind;
      this.place = place;
    }

    private void pass(Place here) throws InterruptedException {
      if (here == place && StuckCode.isFirst()) {
        try {
          StuckCode.getStuck(kind);
        } finally {
          StuckCode.left();
        }
      }
    }

    @Override
    public List<? extends BoundedSource<Long>> split(long desiredBundleSizeBytes, PipelineOptions options)
        throws Exception {
      pass(Place.SPLIT);
      return numbers.split(desiredBundleSizeBytes, options);
    }

    @Override
    public long getEstimatedSizeBytes(PipelineOptions options) throws Exception {
      pass(Place.SIZE);
      return numbers.getEstimatedSizeBytes(options);
    }

    @Override
    public BoundedReader<Long> createReader(PipelineOptions options) throws IOException {
      return numbers.createReader(options);
    }

    @Override
    public Coder<Long> getOutputCoder() {
      return numbers.getOutputCoder();
    }
  }

  static Stream<Arguments> cases() {
    return Stream.of(Kind.values())
        .flatMap(kind -> Stream.of(Place.values()).map(place -> Arguments.of(kind, place)));
  }

  @BeforeEach
  void arm() {
    StuckCode.arm();
  }

  @AfterEach
  void open() {
    StuckCode.open();
  }

  private static SparkStructuredStreamingPipelineResult start(
      Kind kind, Place place, Collected<Long> collected, String... options) {
    Pipeline pipeline = Pipeline.create(Runs.options(options));
    pipeline
        .apply("Numbers", Read.from(new StuckSource(kind, place)))
        .apply("Collect", ParDo.of(collected));
    return Runs.start(pipeline);
  }

  private static void cancelAndRunAgain(Kind kind, Place place, String... options) throws Exception {
    Collected<Long> none = new Collected<>();
    StuckCode.cancel(start(kind, place, none, options));
    if (kind == Kind.WAITS) {
      StuckCode.awaitLeft();
    }
    Collected<Long> all = new Collected<>();
    assertThat(start(kind, place, all, options).waitUntilFinish(), is(State.DONE));
    assertThat(all.list(), containsInAnyOrder(0L, 1L));
    StuckCode.letGo();
    assertThat(none.list(), is(List.of()));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aBatchIsCancelledAndRunsAgain(Kind kind, Place place) throws Exception {
    cancelAndRunAgain(kind, place, "--jobName=stuck-batch");
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aStreamIsCancelledAndGoesOnFromItsCheckpoint(Kind kind) throws Exception {
    cancelAndRunAgain(
        kind,
        Place.SPLIT,
        "--jobName=stuck-stream",
        "--streaming=true",
        "--checkpointDir=" + directory.resolve("checkpoint"),
        "--cancelTimeoutMillis=500");
  }
}
