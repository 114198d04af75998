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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.instanceOf;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.SerializableFunction;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * User code of every kind that fails: the pipeline fails with it, all that was set up is torn down,
 * and once the fault is mended the same checkpoint goes on to the exact result.
 */
class FailingUserCodeTest {
  @TempDir Path checkpoint;

  @BeforeEach
  void mend() {
    Faults.mend();
  }

  private Pipeline pipeline() {
    return pipeline("--maxRecordsPerMicroBatch=0");
  }

  private Pipeline pipeline(String option) {
    return Pipeline.create(
        Runs.options("--checkpointDir=" + checkpoint, "--maxRestarts=0", option));
  }

  /** Expects the failure that {@link Faults} throws, and a suppressed one naming {@code step}. */
  private static void assertFails(Pipeline pipeline, String step) {
    SparkStructuredStreamingPipelineResult result = Runs.start(pipeline);
    Throwable cause =
        assertThrows(PipelineExecutionException.class, result::waitUntilFinish).getCause();
    assertThat(cause, instanceOf(Faults.Injected.class));
    String suppressed =
        Arrays.stream(cause.getSuppressed()).map(Throwable::getMessage).collect(Collectors.joining());
    assertThat(suppressed, containsString(step));
    assertThat(result.getState(), is(State.FAILED));
  }

  private static void assertGoesOn(Pipeline pipeline) {
    Faults.mend();
    assertThat(Runs.start(pipeline).waitUntilFinish(), is(State.DONE));
  }

  @ParameterizedTest
  @EnumSource(
      value = Faults.Place.class,
      names = {"SETUP", "START_BUNDLE", "PROCESS", "FINISH_BUNDLE"})
  void aDoFn(Faults.Place place) {
    Feed feed = Feed.of(1, 2, 3).end();
    Collected<Long> collected = new Collected<>();
    Faults.failAt(place, Faults.Place.TEARDOWN);
    assertFails(doFn(feed, collected), "Fails");
    Runs.await("tear-downs", () -> Faults.setUps() == Faults.tearDowns());
    assertThat(feed.closed(), is(feed.opened()));
    int before = collected.list().size();
    assertGoesOn(doFn(feed, collected));
    assertThat(
        collected.list().subList(before, collected.list().size()), is(List.<Object>of(1L, 2L, 3L)));
    assertThat(Faults.tearDowns(), is(Faults.setUps()));
  }

  @Test
  void aDoFnThatCannotBeReadOnAnExecutor() {
    Feed feed = Feed.of(1, 2, 3).end();
    Collected<Long> collected = new Collected<>();
    Pipeline pipeline = doFn(feed, collected);
    Faults.failAt(Faults.Place.DESERIALIZE);
    assertFails(pipeline, "One of the pipeline's own objects failed when it was deserialized");
    assertGoesOn(doFn(feed, collected));
    assertThat(collected.list(), is(List.<Object>of(1L, 2L, 3L)));
  }

  /** The plan is read once, and copied for every task. */
  @Test
  void aDoFnThatCannotBeCopied() {
    Pipeline pipeline = doFn(Feed.of(1).end(), new Collected<>());
    Faults.failAtSecond(Faults.Place.DESERIALIZE);
    assertFails(pipeline, "Fails/ParMultiDo(Faulty): copying the DoFn");
  }

  /** Nothing that runs on the thread later, here the DoFn itself, is to take it for Spark's. */
  @Test
  void anInterruptionThatADoFnLeavesInItsThreadIsTakenBack() {
    Collected<Boolean> interrupted = new Collected<>();
    Pipeline pipeline = pipeline();
    pipeline
        .apply("Numbers", Read.from(Feed.of(1, 2).end().source()))
        .apply("Interrupts", ParDo.of(new Interrupting()))
        .apply("Collect", ParDo.of(interrupted));
    assertThat(Runs.start(pipeline).waitUntilFinish(), is(State.DONE));
    assertThat(interrupted.list(), is(List.<Object>of(false, false, false)));
  }

  /** Says for every element and the end of the bundle whether the thread was interrupted before. */
  private static final class Interrupting extends DoFn<Long, Boolean> {
    @ProcessElement
    public void process(OutputReceiver<Boolean> output) {
      output.output(Thread.currentThread().isInterrupted());
      Thread.currentThread().interrupt();
    }

    @FinishBundle
    public void finishBundle(FinishBundleContext context) {
      context.output(
          Thread.currentThread().isInterrupted(), Instant.ofEpochMilli(2), GlobalWindow.INSTANCE);
    }
  }

  @Test
  void aDoFnsTearDownAloneFailsNothing() {
    Collected<Long> collected = new Collected<>();
    Faults.failAt(Faults.Place.TEARDOWN);
    assertThat(
        Runs.start(doFn(Feed.of(1).end(), collected)).waitUntilFinish(), is(State.DONE));
    assertThat(collected.list(), is(List.<Object>of(1L)));
    assertThat(Faults.tearDowns(), is(Faults.setUps()));
  }

  private Pipeline doFn(Feed feed, Collected<Long> collected) {
    Pipeline pipeline = pipeline();
    pipeline
        .apply("Numbers", Read.from(feed.source()))
        .apply("Fails", ParDo.of(new Faults.FaultyDoFn()))
        .apply("Collect", ParDo.of(collected));
    return pipeline;
  }

  @ParameterizedTest
  @EnumSource(
      value = Faults.Place.class,
      names = {"CREATE", "ADD", "MERGE", "EXTRACT", "ENCODE", "DECODE"})
  void aCombineFn(Faults.Place place) {
    Feed feed = Feed.of(1, 2, 13, 14).end();
    Collected<KV<Long, Long>> collected = new Collected<>();
    Faults.failAt(place);
    assertFails(combine(feed, collected), "Sums");
    assertThat(feed.closed(), is(feed.opened()));
    assertGoesOn(combine(feed, collected));
    assertThat(collected.list(), containsInAnyOrder((Object) KV.of(0L, 3L), KV.of(0L, 27L)));
  }

  private Pipeline combine(Feed feed, Collected<KV<Long, Long>> collected) {
    // An epoch for each number, so that state is read, merged and written.
    Pipeline pipeline = pipeline("--maxRecordsPerMicroBatch=1");
    pipeline
        .apply("Numbers", Read.from(feed.source()))
        .apply(Window.into(FixedWindows.of(Duration.millis(10))))
        .apply(WithKeys.<Long, Long>of(0L).withKeyType(TypeDescriptors.longs()))
        .apply("Sums", Combine.<Long, Long, Long>perKey(new Faults.FaultySum()))
        .setCoder(KvCoder.of(VarLongCoder.of(), VarLongCoder.of()))
        .apply("Collect", ParDo.of(collected));
    return pipeline;
  }

  @Test
  void aWindowFn() {
    Feed feed = Feed.of(1, 2).end();
    Collected<Long> collected = new Collected<>();
    Faults.failAt(Faults.Place.ASSIGN_WINDOW);
    assertFails(windowed(feed, collected), "Windows");
    assertGoesOn(windowed(feed, collected));
    assertThat(collected.list(), is(List.<Object>of(1L, 2L)));
  }

  private Pipeline windowed(Feed feed, Collected<Long> collected) {
    Pipeline pipeline = pipeline();
    pipeline
        .apply("Numbers", Read.from(feed.source()))
        .apply("Windows", Window.into(new Faults.FaultyWindows()))
        .apply("Collect", ParDo.of(collected));
    return pipeline;
  }

  @ParameterizedTest
  @EnumSource(
      value = Faults.Place.class,
      names = {"ENCODE", "DECODE"})
  void aCoderOfElements(Faults.Place place) {
    Feed feed = Feed.of(1, 2).end();
    Collected<Long> collected = new Collected<>();
    Faults.failAt(place);
    // Values are decoded when the DoFn behind the group asks for them.
    assertFails(grouped(feed, collected), place == Faults.Place.DECODE ? "Values" : "Groups");
    int before = collected.list().size();
    assertGoesOn(grouped(feed, collected));
    assertThat(
        collected.list().subList(before, collected.list().size()),
        containsInAnyOrder((Object) 1L, 2L));
  }

  private Pipeline grouped(Feed feed, Collected<Long> collected) {
    Pipeline pipeline = pipeline();
    PCollection<KV<Long, Long>> keyed =
        pipeline
            .apply("Numbers", Read.from(feed.source()))
            .apply(WithKeys.<Long, Long>of(0L).withKeyType(TypeDescriptors.longs()));
    keyed
        .setCoder(KvCoder.of(VarLongCoder.of(), new Faults.FaultyCoder()))
        .apply(Window.into(FixedWindows.of(Duration.millis(10))))
        .apply("Groups", GroupByKey.create())
        .apply("Values", ParDo.of(new Values()))
        .setCoder(VarLongCoder.of())
        .apply("Collect", ParDo.of(collected));
    return pipeline;
  }

  private static final class Values extends DoFn<KV<Long, Iterable<Long>>, Long> {
    @ProcessElement
    public void process(@Element KV<Long, Iterable<Long>> group, OutputReceiver<Long> output) {
      group.getValue().forEach(output::output);
    }
  }

  @Test
  void aNullKeyThatItsCoderCannotTake() {
    Pipeline pipeline = pipeline();
    pipeline
        .apply("Numbers", Read.from(Feed.of(1).end().source()))
        .apply(
            WithKeys.<Long, Long>of((SerializableFunction<Long, Long>) number -> null)
                .withKeyType(TypeDescriptors.longs()))
        .setCoder(KvCoder.of(VarLongCoder.of(), VarLongCoder.of()))
        .apply(Window.into(FixedWindows.of(Duration.millis(10))))
        .apply("Groups", GroupByKey.create());
    SparkStructuredStreamingPipelineResult result = Runs.start(pipeline);
    Throwable cause =
        assertThrows(PipelineExecutionException.class, result::waitUntilFinish).getCause();
    assertThat(cause.getMessage(), containsString("null"));
    assertThat(
        Arrays.stream(cause.getSuppressed()).map(Throwable::getMessage).toList().toString(),
        containsString("Groups"));
  }

  @ParameterizedTest
  @EnumSource(
      value = Feed.Point.class,
      names = {"DECODE_MARK", "CLOSE", "GET_MARK_CODER"},
      mode = EnumSource.Mode.EXCLUDE)
  void aSource(Feed.Point point) {
    Feed feed = Feed.of(1, 2, 3).end().failAt(point, Faults.Injected::new);
    Collected<Long> collected = new Collected<>();
    assertFails(
        source(feed, collected), point == Feed.Point.GET_BACKLOG ? "asking for the backlog" : "Numbers");
    assertThat(feed.closed(), is(feed.opened()));
    feed.failNoMore();
    int before = collected.list().size();
    assertGoesOn(source(feed, collected));
    assertThat(
        collected.list().subList(before, collected.list().size()), is(List.<Object>of(1L, 2L, 3L)));
    assertThat(feed.closed(), is(feed.opened()));
  }

  @ParameterizedTest
  @EnumSource(names = {"GET_TIMESTAMP", "GET_WATERMARK"})
  void aReaderThatReturnsNullIsToldSo(Feed.Point point) {
    Feed feed = Feed.of(1, 2, 3).end().returnNullAt(point);
    Collected<Long> collected = new Collected<>();
    SparkStructuredStreamingPipelineResult result = Runs.start(source(feed, collected));
    Throwable cause =
        assertThrows(PipelineExecutionException.class, result::waitUntilFinish).getCause();
    String method = point == Feed.Point.GET_TIMESTAMP ? "getCurrentTimestamp" : "getWatermark";
    assertThat(cause.getMessage(), containsString(method + " of "));
    assertThat(cause.getMessage(), containsString("FeedReader returned null"));
    assertThat(cause.getSuppressed()[0].getMessage(), containsString("Numbers"));
    feed.failNoMore();
    assertGoesOn(source(feed, collected));
  }

  @Test
  void aSourceThatFailsToGiveItsMarkCoderIsNamed() {
    Feed feed = Feed.of(1).end();
    Pipeline pipeline = source(feed, new Collected<>());
    feed.failAt(Feed.Point.GET_MARK_CODER, Faults.Injected::new);
    IllegalStateException refused = assertThrows(IllegalStateException.class, pipeline::run);
    assertThat(refused.getMessage(), containsString("Numbers: getCheckpointMarkCoder of "));
    assertThat(refused.getCause(), instanceOf(Faults.Injected.class));
  }

  @Test
  void aReaderThatFailsToCloseFailsNothing() {
    Feed feed = Feed.of(1, 2, 3).end().failAt(Feed.Point.CLOSE, Faults.Injected::new);
    Collected<Long> collected = new Collected<>();
    assertThat(Runs.start(source(feed, collected)).waitUntilFinish(), is(State.DONE));
    assertThat(collected.list(), is(List.<Object>of(1L, 2L, 3L)));
  }

  @Test
  void aReaderThatFailsToCloseDoesNotHideWhatFailedBefore() {
    Feed feed = Feed.of(1, 2, 3).end().failAt(Feed.Point.CLOSE, Thrown.NOT_SERIALIZABLE::make);
    Faults.failAt(Faults.Place.PROCESS);
    assertFails(doFn(feed, new Collected<>()), "Fails");
  }

  @Test
  void aMarkThatCannotBeDecodedAtARestart() {
    Feed feed = Feed.of(1, 2);
    Collected<Long> collected = new Collected<>();
    SparkStructuredStreamingPipelineResult first = Runs.start(source(feed, collected));
    Runs.await("two numbers", () -> collected.list().size() == 2);
    first.cancel();
    feed.add(3).end().failAt(Feed.Point.DECODE_MARK, Faults.Injected::new);
    assertFails(source(feed, collected), "Numbers");
    feed.failNoMore();
    assertGoesOn(source(feed, collected));
    assertThat(collected.list(), is(List.<Object>of(1L, 2L, 3L)));
  }

  private Pipeline source(Feed feed, Collected<Long> collected) {
    Pipeline pipeline = pipeline();
    pipeline
        .apply("Numbers", Read.from(feed.source()))
        .apply("Collect", ParDo.of(collected));
    return pipeline;
  }

  @Test
  void aMissingCoderIsRefused() {
    Pipeline pipeline = pipeline();
    pipeline
        .apply("Numbers", Read.from(Feed.of(1).end().source()))
        .apply("NoCoder", ParDo.of(new ToObject()));
    IllegalStateException refused = assertThrows(IllegalStateException.class, pipeline::run);
    assertThat(refused.getMessage(), containsString("NoCoder"));
  }

  private static final class ToObject extends DoFn<Long, Object> {
    @ProcessElement
    public void process(OutputReceiver<Object> output) {
      output.output(new Object());
    }
  }
}
