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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.NoSuchElementException;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.KV;
import org.apache.spark.TaskContext;
import org.checkerframework.checker.nullness.qual.Nullable;
import org.joda.time.Instant;

/**
 * A reader with what a reader of a real system has: a thread and an open file of its own. Passes the
 * points {@code create <source> <split> epoch=<e>}, {@code read <source> <split> epoch=<e>
 * partition=<p> begin}, {@code ... record=<number in the epoch>} and {@code mark <source> <split>
 * epoch=<e> partition=<p>}, of the task's partition.
 */
final class LoggedReader extends UnboundedReader<KV<String, Long>> {
  static final String CONNECTIONS = "connections";
  static final String THREAD = "logged-source-";

  /** How many readers of this JVM are open. */
  static final AtomicInteger OPEN = new AtomicInteger();

  private static final int OLDER_POSITION = 7;

  /** How long the write of a mark waits for a copy of its task to overtake it. */
  private static final long OVERTAKING_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** The driver starts executors itself; asked for once, as an executor outlives it for a moment. */
  private static final long DRIVER =
      ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(-1L);

  /** Where Spark tells tasks the start of the query that they are of. */
  private static final String START_PROPERTY = "spark.jobGroup.id";

  private final LoggedSource source;
  private final SeededRecords records;
  private final String id;
  private final CallLog log;
  private final FileChannel connection;
  private final CountDownLatch closed = new CountDownLatch(1);
  private int position;
  private long epoch = -1;
  private int left;
  private int read;
  private int marks;
  private SeededRecords.@Nullable Entry current;

  private LoggedReader(LoggedSource source, int position, CallLog log, FileChannel connection, String id) {
    this.source = source;
    this.records = source.records();
    this.position = position;
    this.log = log;
    this.connection = connection;
    this.id = id;
  }

  static LoggedReader open(LoggedSource source, LoggedSource.@Nullable Mark mark) throws IOException {
    String of = "create " + source.records().name() + " " + source.splitNumber();
    FaultPoints.pass(of + " epoch=" + FaultPoints.epoch());
    Path directory = Files.createDirectories(FaultPoints.directory().resolve(CONNECTIONS));
    String id = UUID.randomUUID().toString();
    FileChannel connection =
        FileChannel.open(directory.resolve(id), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    int position = mark == null ? 0 : mark.position();
    if (mark != null && FaultPoints.isTold(of + " older epoch=" + FaultPoints.epoch())) {
      position = Math.max(0, position - OLDER_POSITION);
    }
    LoggedReader reader =
        new LoggedReader(source, position, CallLog.ofRun(), connection, id);
    Thread thread = new Thread(reader::live, THREAD + id);
    thread.setDaemon(true);
    thread.start();
    OPEN.incrementAndGet();
    reader.call(CallLog.Kind.CREATE, mark == null ? "" : mark.name(), mark == null ? -1 : mark.epoch());
    return reader;
  }

  private void live() {
    try {
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void call(CallLog.Kind kind, String mark, long markEpoch) {
    log.add(
        new CallLog.Call(
            ProcessHandle.current().pid(),
            DRIVER,
            id,
            records.name(),
            source.splitNumber(),
            kind,
            FaultPoints.epoch(),
            mark,
            markEpoch,
            kind != CallLog.Kind.FINALIZE || isCommitted(markEpoch)));
  }

  private static boolean isCommitted(long epoch) {
    return Files.exists(
        FaultPoints.directory()
            .resolve(FaultProgram.CHECKPOINT)
            .resolve("commits")
            .resolve(Long.toString(epoch)));
  }

  @Override
  public boolean start() throws IOException {
    call(CallLog.Kind.START, "", -1);
    return move();
  }

  @Override
  public boolean advance() throws IOException {
    call(CallLog.Kind.ADVANCE, "", -1);
    return move();
  }

  private boolean move() throws IOException {
    String of = "read " + records.name() + " " + source.splitNumber() + " " + FaultPoints.task();
    if (FaultPoints.epoch() != epoch) {
      epoch = FaultPoints.epoch();
      read = 0;
      left = source.perEpoch() - fewer(TaskContext.get());
      FaultPoints.pass(of + " begin");
    }
    current = null;
    if (left <= 0 || position >= records.positions()) {
      return false;
    }
    left--;
    read++;
    FaultPoints.pass(of + " record=" + read);
    current = records.at(source.splitNumber(), position);
    position++;
    return true;
  }

  /**
   * Another number in every other attempt at a task, and with even odds in another start of its query: a
   * source may read differently the second time.
   */
  private static int fewer(TaskContext task) {
    int start = String.valueOf(task.getLocalProperty(START_PROPERTY)).hashCode();
    return Math.floorMod(start + FaultPoints.epoch() + task.stageAttemptNumber() + task.attemptNumber(), 2);
  }

  @Override
  public KV<String, Long> getCurrent() {
    return KV.of(entry().key(), entry().value());
  }

  @Override
  public Instant getCurrentTimestamp() {
    return Instant.ofEpochMilli(entry().millis());
  }

  @Override
  public byte[] getCurrentRecordId() {
    return entry().id().getBytes(StandardCharsets.UTF_8);
  }

  private SeededRecords.Entry entry() {
    if (current == null) {
      throw new NoSuchElementException();
    }
    return current;
  }

  @Override
  public Instant getWatermark() {
    return position >= records.positions()
        ? BoundedWindow.TIMESTAMP_MAX_VALUE
        : Instant.ofEpochMilli(records.watermark(position));
  }

  @Override
  public LoggedSource.Mark getCheckpointMark() {
    String name = id + "/" + marks++;
    call(CallLog.Kind.MARK, name, epoch);
    if (isToldToMeetCopy()) {
      FaultFileManager.inNextWrite(this::awaitCopy);
    }
    return new LoggedSource.Mark(name, position, epoch, this);
  }

  private boolean isToldToMeetCopy() {
    try {
      return FaultPoints.isTold(
          "mark " + records.name() + " " + source.splitNumber() + " " + FaultPoints.task());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Stays until another attempt at the task reads, and then until that one has made Spark end this one,
   * or has had time to; heeds Spark no more than user code need.
   */
  private void awaitCopy() {
    FaultPoints.stay(() -> log.calls().stream().anyMatch(this::isOfAnotherAttempt));
    long end = System.nanoTime() + OVERTAKING_NANOS;
    FaultPoints.stay(() -> Thread.currentThread().isInterrupted() || System.nanoTime() > end);
    if (Thread.interrupted()) {
      FaultPoints.events().add(EventLog.OVERTAKEN, records.name(), source.splitNumber());
    }
  }

  private boolean isOfAnotherAttempt(CallLog.Call call) {
    return call.source().equals(records.name())
        && call.split() == source.splitNumber()
        && call.epoch() == epoch
        && !call.reader().equals(id)
        && (call.kind() == CallLog.Kind.START || call.kind() == CallLog.Kind.ADVANCE);
  }

  void finalized(LoggedSource.Mark mark) {
    call(CallLog.Kind.FINALIZE, mark.name(), mark.epoch());
  }

  @Override
  public void close() throws IOException {
    call(CallLog.Kind.CLOSE, "", -1);
    OPEN.decrementAndGet();
    closed.countDown();
    connection.close();
  }

  @Override
  public UnboundedSource<KV<String, Long>, ?> getCurrentSource() {
    return source;
  }
}
