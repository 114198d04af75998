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
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasProperty;
import static org.hamcrest.Matchers.instanceOf;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Sources that leave no mark to go on from. A start that the user orders reads them from their
 * beginning; one that the user has not ordered does not happen, as it would double elements in the
 * state that is kept.
 */
class UnmarkedSourceTest {
  @TempDir Path checkpoint;

  private Pipeline pipeline(Feed feed, Collected<Long> collected, FailsAt fails) {
    Pipeline pipeline =
        Pipeline.create(
            Runs.options(
                "--checkpointDir=" + checkpoint, "--maxRestarts=3", "--maxRecordsPerMicroBatch=1"));
    pipeline
        .apply("Numbers", Read.from(feed.source()))
        .apply("Collect", ParDo.of(collected))
        .apply("Fails", ParDo.of(fails));
    return pipeline;
  }

  @ParameterizedTest
  @EnumSource(names = {"GET_MARK_CODER", "GET_MARK"})
  void aFailedQueryIsNotRestartedByItselfIntoKeptState(Feed.Point missing) {
    Feed feed = Feed.of(1, 2, 3).end().returnNullAt(missing);
    Collected<Long> collected = new Collected<>();
    SparkStructuredStreamingPipelineResult result =
        Runs.start(pipeline(feed, collected, new FailsAt(2, 1)));
    Throwable cause =
        assertThrows(PipelineExecutionException.class, result::waitUntilFinish).getCause();
    assertThat(cause, instanceOf(Faults.Injected.class));
    assertThat(
        List.of(cause.getSuppressed()),
        hasItem(
            hasProperty(
                "message",
                allOf(containsString("was not restarted"), containsString("'Numbers'")))));
    assertThat(result.getState(), is(State.FAILED));
    assertThat(feed.opened(), is(1));
    assertThat(collected.list(), is(List.<Object>of(1L, 2L)));

    assertThat(
        Runs.start(pipeline(feed, collected, new FailsAt(0, 0))).waitUntilFinish(), is(State.DONE));
    assertThat(collected.list(), is(List.<Object>of(1L, 2L, 1L, 2L, 3L)));
  }

  /** Nothing is kept yet that elements could be doubled in. */
  @Test
  void aNullMarkBeforeTheFirstCommitIsNoReasonAgainstARestart() {
    Feed feed = Feed.of(1, 2, 3).end().returnNullAt(Feed.Point.GET_MARK);
    Collected<Long> collected = new Collected<>();
    assertThat(
        Runs.start(pipeline(feed, collected, new FailsAt(1, 1))).waitUntilFinish(), is(State.DONE));
    assertThat(collected.list(), is(List.<Object>of(1L, 1L, 2L, 3L)));
  }

  /** Fails at a number, for so many times. */
  private static final class FailsAt extends DoFn<Long, Long> {
    private static final Map<Integer, AtomicInteger> LEFT = new ConcurrentHashMap<>();

    private final int id = LEFT.size();
    private final long number;

    FailsAt(long number, int times) {
      this.number = number;
      LEFT.put(id, new AtomicInteger(times));
    }

    @ProcessElement
    public void process(@Element Long element, OutputReceiver<Long> output) {
      if (element == number && LEFT.get(id).getAndDecrement() > 0) {
        throw new Faults.Injected();
      }
      output.output(element);
    }
  }
}
