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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.arrayWithSize;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.notNullValue;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.apache.beam.runners.core.construction.SerializablePipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.EpochSinkProvider.Script;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Step;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole queries on Spark, restarted and failing. The session serializes by Kryo and tries a task
 * three times.
 */
class StreamingQueryTest {
  private static final ReadLimits TWENTY = new ReadLimits(20, 0);
  private static SparkSession spark;

  @TempDir Path directory;
  private String name;
  private SourceTrace trace;
  private Script script;
  private String registration;
  private ReadLimits limits = TWENTY;

  @BeforeAll
  static void startSpark() {
    spark =
        SparkSession.builder()
            .master("local[2,3]")
            .appName("streaming queries")
            .config("spark.ui.enabled", "false")
            .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .getOrCreate();
  }

  @AfterAll
  static void stopSpark() {
    spark.stop();
  }

  @BeforeEach
  void nameTheSource(TestInfo test) {
    name = "query " + test.getDisplayName();
    trace = SourceTrace.of(name);
    script = EpochSinkProvider.script(name);
  }

  @AfterEach
  void leaveNothing() throws Exception {
    for (StreamingQuery query : spark.streams().active()) {
      query.stop();
    }
    BeamReaderCache.retireAll(directory.toString());
    assertThat(trace.violations, empty());
    assertEquals(trace.opened.size(), trace.closed.get(), "readers closed");
    assertEquals(0, BeamReaderCache.size());
  }

  private SourceRegistration registration(
      int index, UnboundedSource<?, ?> source, ManualGate gate) {
    return SourceRegistration.builder()
        .fullName("Pipeline/Read" + index)
        .sourceIndex(index)
        .source(source)
        .options(new SerializablePipelineOptions(PipelineOptionsFactory.create()))
        .checkpointDir(directory.toString())
        .stableId(100 + index)
        .desiredSplits(2)
        .limits(limits)
        .readerIdleTimeoutMillis(60_000)
        .gate(gate)
        .build();
  }

  private StreamingQuery start(ManualGate gate, UnboundedSource<?, ?>... sources)
      throws Exception {
    registration = UUID.randomUUID().toString();
    List<SourceRegistration> registrations = new ArrayList<>();
    for (UnboundedSource<?, ?> source : sources) {
      registrations.add(registration(registrations.size(), source, gate));
    }
    BeamSourceRegistry.register(registration, registrations);
    Dataset<Row> rows = load(0);
    for (int index = 1; index < sources.length; index++) {
      rows = rows.union(load(index));
    }
    return rows.writeStream()
        .format(EpochSinkProvider.class.getName())
        .option("checkpointLocation", directory.toString())
        .option("run", name)
        .trigger(Trigger.ProcessingTime(0))
        .start();
  }

  private Dataset<Row> load(int index) {
    return spark
        .readStream()
        .format(BeamSourceProvider.class.getName())
        .option(BeamSourceProvider.REGISTRATION_OPTION, registration)
        .option(BeamSourceProvider.SOURCE_OPTION, Integer.toString(index))
        .load();
  }

  /** Runs until the gate holds the query, then stops it. */
  private void run(ManualGate gate, UnboundedSource<?, ?>... sources) throws Exception {
    StreamingQuery query = start(gate, sources);
    query.processAllAvailable();
    query.stop();
    BeamSourceRegistry.unregister(registration);
  }

  private ScriptedSource source(int... records) {
    List<List<Step>> scripts = new ArrayList<>();
    for (int split = 0; split < records.length; split++) {
      scripts.add(ScriptedSource.recordsToTheEnd("s" + split + "-", records[split]));
    }
    return ScriptedSource.of(name, scripts);
  }

  private static String[] expected(int... records) {
    List<String> elements = new ArrayList<>();
    for (int split = 0; split < records.length; split++) {
      for (int record = 0; record < records[split]; record++) {
        elements.add("s" + split + "-" + record);
      }
    }
    return elements.toArray(String[]::new);
  }

  private void assertEpochs(long count) {
    assertThat(
        List.copyOf(script.epochs.keySet()),
        equalTo(LongStream.range(0, count).boxed().toList()));
  }

  /** apache/beam#34890, apache/beam#31313: restored splits are opened once, and none is new. */
  @Test
  void aRestartedQueryOpensTheStoredSplitsFromTheirMarks() throws Exception {
    run(new ManualGate(3), source(50, 50));
    assertThat(trace.opened, hasSize(2));
    BeamReaderCache.retireAll(directory.toString());

    run(new ManualGate(8), source(50, 50));

    assertThat(script.elements(), containsInAnyOrder(expected(50, 50)));
    assertEquals(1, trace.splitCalls.get());
    assertThat(trace.opened, hasSize(4));
    assertThat(
        trace.opened.subList(2, 4).stream().map(SourceTrace.Opened::step).toList(),
        everyItem(notNullValue()));
    assertEpochs(8);
  }

  @Test
  void nothingIsLostOrReadTwiceWhenTheQueryIsRestartedAfterEveryEpoch() throws Exception {
    for (long epoch = 1; epoch < 8; epoch++) {
      run(new ManualGate(epoch), source(31, 40));
      if (epoch % 2 == 0) {
        BeamReaderCache.retireAll(directory.toString());
      }
    }

    assertThat(script.elements(), containsInAnyOrder(expected(31, 40)));
    assertEquals(1, trace.splitCalls.get());
    assertEpochs(7);
  }

  /** apache/spark#42823: Spark plans an epoch several times. */
  @Test
  void planningAgainHasNoEffect() throws Exception {
    ManualGate gate = new ManualGate(2);
    StreamingQuery query = start(gate, source(30, 30));
    query.processAllAvailable();
    query.explain(true);
    query.explain();
    gate.openUpTo(4);
    query.processAllAvailable();
    query.explain(true);

    assertThat(script.elements(), containsInAnyOrder(expected(30, 30)));
    assertEquals(1, trace.splitCalls.get());
    assertThat(trace.opened, hasSize(2));
    assertEpochs(4);
  }

  /** apache/beam#39971: a task that is retried starts where its epoch starts. */
  @Test
  void aRetriedTaskReadsItsEpochOnce() throws Exception {
    script.failFirstAttemptAtRow = 6;

    run(new ManualGate(2), source(10));

    assertEquals(1, script.failedTasks.get());
    assertThat(script.elements(), containsInAnyOrder(expected(10)));
  }

  /** The mark of an epoch that was read but not committed is not finalized, and read again. */
  @Test
  void anEpochThatFailsBehindItsTasksIsNotAcknowledgedAndReplayed() throws Exception {
    script.failAfterTasksOfEpoch = 2;
    StreamingQuery query = start(new ManualGate(6), source(90));
    assertThrows(StreamingQueryException.class, query::awaitTermination);
    BeamReaderCache.retireAll(directory.toString());
    assertEquals(2, script.epochs.size());
    assertThat(
        trace.acknowledged.stream().map(SourceTrace.Acknowledged::records).toList(),
        equalTo(List.of(20L, 40L)));

    script.failAfterTasksOfEpoch = -1;
    run(new ManualGate(6), source(90));
    BeamReaderCache.retireAll(directory.toString());

    assertThat(script.elements(), containsInAnyOrder(expected(90)));
    assertThat(
        trace.acknowledged.stream().map(SourceTrace.Acknowledged::step).toList(),
        equalTo(List.of(40, 80, 120, 160, 181)));
    assertEpochs(6);
  }

  @Test
  void theReaderOfAFailedEpochThatStayedInTheCacheIsNotReused() throws Exception {
    script.failAfterTasksOfEpoch = 1;
    StreamingQuery query = start(new ManualGate(6), source(90));
    assertThrows(StreamingQueryException.class, query::awaitTermination);
    script.failAfterTasksOfEpoch = -1;

    run(new ManualGate(6), source(90));

    assertThat(script.elements(), containsInAnyOrder(expected(90)));
    assertThat(trace.opened, hasSize(2));
  }

  @Test
  void aClosedGateKeepsTheFirstEpochFromStarting() throws Exception {
    ManualGate gate = new ManualGate(0);
    StreamingQuery query = start(gate, source(10));
    await(() -> gate.refused.get() > 3);

    assertEpochs(0);
    assertFalse(Files.exists(directory.resolve("offsets/0")));
    gate.openUpTo(1);
    query.processAllAvailable();
    assertThat(script.elements(), containsInAnyOrder(expected(10)));
    assertEpochs(1);
  }

  @Test
  void theGateHearsOfCommitsAndProgressShowsTheSourceByName() throws Exception {
    ManualGate gate = new ManualGate(3);
    StreamingQuery query = start(gate, source(30), source(10));
    query.processAllAvailable();

    assertThat(gate.committed, equalTo(List.of(1L, 1L, 2L, 2L)));
    StreamingQueryProgress first = query.recentProgress()[0];
    assertThat(first.sources(), arrayWithSize(2));
    assertEquals("Pipeline/Read0", first.sources()[0].description());
    assertEquals(20, first.sources()[0].numInputRows());
    assertEquals(10, first.sources()[1].numInputRows());
    assertEquals("1", first.sources()[1].endOffset());
    assertEquals("71", first.sources()[1].metrics().get(SourceMetricNames.BACKLOG_BYTES));
  }

  /** apache/beam#4130: readers are closed when the query is stopped in the middle of an epoch. */
  @Test
  void aQueryThatIsStoppedWhileItReadsClosesItsReaders() throws Exception {
    limits = new ReadLimits(0, 0);
    StreamingQuery query =
        start(
            new ManualGate(1),
            ScriptedSource.of(name, List.of(List.of(new ScriptedSource.Endless("e")))));
    await(() -> trace.pulled.get() > 100);
    query.stop();

    await(() -> trace.closed.get() == 1);
    assertThat(trace.acknowledged, empty());
    assertEpochs(0);
  }

  @Test
  void aQueryThatIsStoppedWhileItSplitsHasNotFailed() throws Exception {
    CountDownLatch splitting = new CountDownLatch(1);
    StreamingQuery query =
        start(
            new ManualGate(1),
            new UnsplittableSource(
                () -> {
                  splitting.countDown();
                  return new CountDownLatch(1).await(60, TimeUnit.SECONDS);
                }));
    assertTrue(splitting.await(60, TimeUnit.SECONDS));
    query.stop();

    assertTrue(query.exception().isEmpty());
  }

  @Test
  void aSourceThatFailsToSplitIsNamed() throws Exception {
    StreamingQuery query =
        start(
            new ManualGate(1),
            new UnsplittableSource(
                () -> {
                  throw new TimeoutException("no such topic");
                }));

    StreamingQueryException failure =
        assertThrows(StreamingQueryException.class, query::awaitTermination);

    assertThat(
        failure.getMessage(),
        allOf(containsString("Pipeline/Read0"), containsString("no such topic")));
  }

  @Test
  void missingSplitsOfAQueryThatHasRunAreAnError() throws Exception {
    run(new ManualGate(1), source(30));
    Files.delete(directory.resolve("beam/sources/0000000000000064/splits"));

    StreamingQuery query = start(new ManualGate(2), source(30));
    StreamingQueryException failure =
        assertThrows(StreamingQueryException.class, query::awaitTermination);

    assertThat(
        failure.getMessage(),
        allOf(
            containsString("splits of Pipeline/Read0 are missing"),
            containsString(directory.toString())));
    assertEquals(1, trace.splitCalls.get());
  }

  @Test
  void anUnknownRegistrationIsAnError() {
    registration = "nobody";

    IllegalStateException failure = assertThrows(IllegalStateException.class, () -> load(0));

    assertThat(failure.getMessage(), containsString("'nobody'"));
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    CountDownLatch pause = new CountDownLatch(1);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, "the condition did not come true in 60 s");
      if (pause.await(5, TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("nobody counts this latch down");
      }
    }
  }

  /** Splits into nothing after the attempt, if that ends. */
  private static final class UnsplittableSource
      extends UnboundedSource<String, ScriptedSource.Mark> {
    private final transient Callable<Boolean> attempt;

    UnsplittableSource(Callable<Boolean> attempt) {
      this.attempt = attempt;
    }

    @Override
    public List<UnboundedSource<String, ScriptedSource.Mark>> split(
        int desiredNumSplits, PipelineOptions options) throws Exception {
      attempt.call();
      return List.of();
    }

    @Override
    public UnboundedReader<String> createReader(
        PipelineOptions options, ScriptedSource.Mark mark) {
      throw new IllegalStateException("no split, no reader");
    }

    @Override
    public Coder<ScriptedSource.Mark> getCheckpointMarkCoder() {
      throw new IllegalStateException("no split, no mark");
    }
  }
}
