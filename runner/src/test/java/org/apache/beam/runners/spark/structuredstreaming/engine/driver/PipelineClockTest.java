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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import org.apache.beam.runners.spark.structuredstreaming.testing.Events;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanTranslator;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.junit.jupiter.api.Test;

/** Which processing time an epoch has. */
class PipelineClockTest {
  private static final long NONE = Long.MIN_VALUE;
  private static final long BEGINNING = BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis();

  private static Pipeline pipeline() {
    return Pipeline.create(PipelineOptionsFactory.create());
  }

  private static PipelineClock clock(Pipeline pipeline) {
    Plan plan = PlanTranslator.translate(pipeline, pipeline.getOptions(), true);
    return new PipelineClock(plan);
  }

  private static PipelineClock wallClock() {
    Pipeline pipeline = pipeline();
    pipeline.apply(Create.of("a"));
    return clock(pipeline);
  }

  private static PipelineClock streamClock() {
    Pipeline pipeline = pipeline();
    TestStream<String> stream = Events.stream().at(1, "a").pass(2).pass(3).end();
    pipeline.apply(stream);
    return clock(pipeline);
  }

  @Test
  void anEpochHasTheTimeItWasLoggedAt() {
    PipelineClock clock = wallClock();
    assertThat(clock.timeOf(0, NONE, 1000), is(1000L));
    assertThat(clock.timeOf(1, 1000, 1500), is(1500L));
    assertThat(clock.isDrivenByStreams(0), is(false));
  }

  @Test
  void timeNeverGoesBackWhenTheWallClockDoes() {
    PipelineClock clock = wallClock();
    assertThat(clock.timeOf(7, NONE, 1000), is(1000L));
    assertThat(clock.timeOf(8, 1000, 400), is(1000L));
    assertThat(clock.timeOf(9, 400, 700), is(1000L));
    // Behind a restart the log of the epoch before is what is known.
    assertThat(wallClock().timeOf(8, 1000, 400), is(1000L));
  }

  @Test
  void aStreamsTimeIsThatOfItsEventsWhateverIsLogged() {
    PipelineClock clock = streamClock();
    assertThat(clock.timeOf(0, NONE, 1000), is(BEGINNING));
    assertThat(clock.timeOf(1, 1000, 1001), is(BEGINNING + 2000));
    assertThat(clock.timeOf(2, 1001, 1002), is(BEGINNING + 5000));
    assertThat(clock.timeOf(3, 1002, 1003), is(BEGINNING + 5000));
    assertThat(clock.isDrivenByStreams(3), is(true));
    assertThat(clock.isDrivenByStreams(4), is(false));
    assertThat(clock.timeOf(4, 1003, 1004), is(1004L));
  }

  @Test
  void thereIsTimeLeftUntilAnEpochsTimeIsPastATimer() {
    PipelineClock clock = wallClock();
    long now = System.currentTimeMillis();
    assertThat(clock.millisUntilPast(1, now - 1), is(0L));
    assertThat(clock.millisUntilPast(1, now + 60_000), greaterThan(30_000L));
    assertThat(clock.millisUntilPast(1, now + 60_000), lessThanOrEqualTo(60_001L));
    assertThat(streamClock().millisUntilPast(1, now + 60_000), is(0L));
  }
}
