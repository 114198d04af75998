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
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.notNullValue;
import static org.hamcrest.Matchers.nullValue;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.PipelineRegistry;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.PipelineSnapshot;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pipelines one after the other and at once, in one Spark session. */
class SeveralPipelinesTest {
  @TempDir Path directory;

  /** An option of the test's own. */
  public interface TagOptions extends PipelineOptions {
    String getTag();

    void setTag(String tag);
  }

  private static final class Tag extends DoFn<Long, String> {
    @ProcessElement
    public void process(
        @Element Long number, PipelineOptions options, OutputReceiver<String> output) {
      output.output(options.as(TagOptions.class).getTag() + number);
    }
  }

  private static SparkStructuredStreamingPipelineResult start(Feed feed, String... options) {
    return start(feed, new Collected<>(), options);
  }

  private static SparkStructuredStreamingPipelineResult start(
      Feed feed, Collected<Long> collected, String... options) {
    Pipeline pipeline = Pipeline.create(Runs.options(options));
    pipeline.apply("Numbers", Read.from(feed.source())).apply("Collect", ParDo.of(collected));
    return Runs.start(pipeline);
  }

  private static Pipeline tagging(String tag, Feed feed, Collected<String> collected) {
    PipelineOptionsFactory.register(TagOptions.class);
    Pipeline pipeline = Pipeline.create(Runs.options("--tag=" + tag));
    pipeline
        .apply("Numbers", Read.from(feed.source()))
        .apply("Tag", ParDo.of(new Tag()))
        .apply("Collect", ParDo.of(collected));
    return pipeline;
  }

  @Test
  void eachIsAQueryOfItsNameAndEndsAlone() {
    SparkStructuredStreamingPipelineResult first = start(Feed.of(1), "--jobName=first-of-two");
    SparkStructuredStreamingPipelineResult second = start(Feed.of(1), "--jobName=second-of-two");
    SparkSession session = Runs.session();
    List<StreamingQuery> active = Arrays.asList(session.streams().active());
    assertThat(
        active.stream().map(StreamingQuery::name).toList(),
        hasItems("first-of-two", "second-of-two"));
    assertThat(session.streams().get(first.query().id()).name(), is("first-of-two"));
    assertThat(first.cancel(), is(State.CANCELLED));
    assertThat(session.streams().get(first.query().id()), nullValue());
    assertThat(second.getState(), is(State.RUNNING));
    assertThat(session.streams().get(second.query().id()).isActive(), is(true));
    assertThat(second.cancel(), is(State.CANCELLED));
    assertThat(session.sparkContext().isStopped(), is(false));
  }

  @Test
  void endingAQueryBySparksOwnMeansCancelsItsPipeline() throws Exception {
    SparkStructuredStreamingPipelineResult result = start(Feed.of(1));
    Runs.session().streams().get(result.query().id()).stop();
    assertThat(result.waitUntilFinish(), is(State.CANCELLED));
  }

  @Test
  void aNameInUseIsRefused() {
    SparkStructuredStreamingPipelineResult running = start(Feed.of(1), "--jobName=only-one");
    IllegalStateException refused =
        assertThrows(
            IllegalStateException.class, () -> start(Feed.of(1), "--jobName=only-one"));
    assertThat(refused.getMessage(), containsString("A pipeline named only-one is running already"));
    assertThat(running.getState(), is(State.RUNNING));
    running.cancel();
    assertThat(start(Feed.of().end(), "--jobName=only-one").waitUntilFinish(), is(State.DONE));
  }

  /** Spark takes the queries of both for one, and would end the first. */
  @Test
  void aCopyOfACheckpointInUseIsRefusedAndTheFirstGoesOn() throws Exception {
    Path original = directory.resolve("original");
    start(Feed.of(1).end(), "--jobName=original", "--checkpointDir=" + original).waitUntilFinish();
    Path copy = directory.resolve("copy");
    try (Stream<Path> files = Files.walk(original)) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(original.relativize(file)));
      }
    }
    SparkStructuredStreamingPipelineResult running =
        start(Feed.of(1), "--jobName=original", "--checkpointDir=" + original);
    UUID runId = running.query().runId();
    IllegalStateException refused =
        assertThrows(
            IllegalStateException.class,
            () -> start(Feed.of(1), "--jobName=copy", "--checkpointDir=" + copy));
    assertThat(
        refused.getMessage(),
        allOf(
            containsString(copy + " is a copy of "),
            containsString(original.toString()),
            containsString("the pipeline original")));
    assertThat(running.getState(), is(State.RUNNING));
    assertThat(running.query().runId(), is(runId));
    assertThat(running.query().isActive(), is(true));
    running.cancel();
    SparkStructuredStreamingPipelineResult copied =
        start(Feed.of(1), "--jobName=copy", "--checkpointDir=" + copy);
    assertThat(copied.getState(), is(State.RUNNING));
    copied.cancel();
  }

  @Test
  void aCheckpointInUseIsRefusedHoweverItIsSpelled() throws Exception {
    Path real = Files.createDirectory(directory.resolve("real"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), real);
    SparkStructuredStreamingPipelineResult running =
        start(Feed.of(1), "--jobName=holder", "--checkpointDir=" + real);
    for (String spelling :
        List.of(
            real.toString(),
            real + "/",
            "file:" + real,
            "file://" + real,
            directory + "/./real",
            directory + "/../" + directory.getFileName() + "/real",
            link.toString())) {
      IllegalStateException refused =
          assertThrows(
              IllegalStateException.class,
              () -> start(Feed.of(1), "--checkpointDir=" + spelling),
              spelling);
      assertThat(refused.getMessage(), containsString("is in use by the running pipeline holder"));
    }
    running.cancel();
  }

  @Test
  void whatEndedAndWhyCanBeAskedLater() {
    SparkStructuredStreamingPipelineResult running = start(Feed.of(1), "--jobName=asked-running");
    PipelineSnapshot alive = PipelineRegistry.find("asked-running").orElseThrow();
    assertThat(alive.state(), is(State.RUNNING));
    assertThat(alive.endTime(), nullValue());
    assertThat(alive.id(), is(running.query().id().toString()));
    assertThat(PipelineRegistry.running().stream().map(PipelineSnapshot::name).toList(),
        hasItems("asked-running"));
    running.cancel();
    PipelineSnapshot cancelled = PipelineRegistry.find(alive.id()).orElseThrow();
    assertThat(cancelled.state(), is(State.CANCELLED));
    assertThat(cancelled.failure(), nullValue());
    assertThat(cancelled.endTime().isBefore(cancelled.startTime()), is(false));

    Pipeline failing = Pipeline.create(Runs.options("--jobName=asked-failed", "--maxRestarts=0"));
    failing
        .apply(Read.from(Feed.of(1).source()))
        .apply(ParDo.of(new Failing(Thrown.UNCHECKED)));
    SparkStructuredStreamingPipelineResult failed = Runs.start(failing);
    assertThrows(PipelineExecutionException.class, failed::waitUntilFinish);
    PipelineSnapshot ended = PipelineRegistry.find("asked-failed").orElseThrow();
    assertThat(ended.state(), is(State.FAILED));
    assertThat(ended.failure(), Thrown.UNCHECKED.isExpected());
    assertThat(ended.runId(), notNullValue());
    assertThat(PipelineRegistry.ended().size(), greaterThan(1));
  }

  @Test
  void metricsAndOptionsStayWithTheirPipelineOneAfterTheOther() {
    Collected<String> a = new Collected<>();
    Collected<String> b = new Collected<>();
    SparkStructuredStreamingPipelineResult first =
        Runs.start(tagging("a", Feed.of(LongStream.range(0, 10).toArray()).end(), a));
    first.waitUntilFinish();
    SparkStructuredStreamingPipelineResult second =
        Runs.start(tagging("b", Feed.of(1, 2, 3).end(), b));
    second.waitUntilFinish();
    check(first, a, "a", 10);
    check(second, b, "b", 3);
  }

  @Test
  void metricsAndOptionsStayWithTheirPipelineAtTheSameTime() {
    Collected<String> a = new Collected<>();
    Collected<String> b = new Collected<>();
    Feed feedOfA = new Feed();
    Feed feedOfB = new Feed();
    SparkStructuredStreamingPipelineResult first = Runs.start(tagging("a", feedOfA, a));
    SparkStructuredStreamingPipelineResult second = Runs.start(tagging("b", feedOfB, b));
    feedOfA.add(LongStream.range(0, 10).toArray()).end();
    feedOfB.add(LongStream.range(0, 3).toArray()).end();
    first.waitUntilFinish();
    second.waitUntilFinish();
    check(first, a, "a", 10);
    check(second, b, "b", 3);
  }

  private static void check(
      SparkStructuredStreamingPipelineResult result,
      Collected<String> collected,
      String tag,
      long count) {
    assertThat(result.getState(), is(State.DONE));
    assertThat(Runs.counter(result, "collected").getCommitted(), is(count));
    assertThat(Runs.counter(result, "collected").getAttempted(), is(count));
    List<Object> expected = new ArrayList<>();
    collected.list().forEach(text -> expected.add(tag + text.toString().substring(1)));
    assertThat(collected.list(), is(expected));
    assertThat((long) collected.list().size(), is(count));
  }
}
