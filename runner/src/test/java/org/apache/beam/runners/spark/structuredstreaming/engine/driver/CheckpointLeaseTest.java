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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.ForkedProgram;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalFilesBySchemeOnly;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager$;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes of their own hold, lose and take the right to a checkpoint. */
@Timeout(120)
class CheckpointLeaseTest {
  private static final long LEASE_MILLIS = 1_500;

  /** A third of it is more than two writes are apart, on whatever machine. */
  private static final long TAKEN_OVER_MILLIS = 6_000;

  private static final String LOCKED = "file";
  private static final String RENEWED = "remote";

  @TempDir Path directory;

  private String location(String scheme) {
    return scheme + ":" + directory.resolve("beam");
  }

  private ForkedProgram.Running holder(String scheme) throws IOException {
    ForkedProgram.Running holder =
        new ForkedProgram(LeaseHolder.class, "128m", 1)
            .start(
                directory.resolve("holder.log"),
                List.of(location(scheme), Long.toString(LEASE_MILLIS)));
    Await.until("the holder", () -> holder.printed().contains("held"), holder::printed);
    return holder;
  }

  private CheckpointLease take(String scheme) throws IOException {
    return LeaseHolder.take(location(scheme), LEASE_MILLIS);
  }

  @ParameterizedTest
  @ValueSource(strings = {LOCKED, RENEWED})
  void whatALivingDriverHoldsIsRefusedAndWhatADeadOneHeldIsTaken(String scheme) throws Exception {
    try (ForkedProgram.Running holder = holder(scheme)) {
      String refusal = assertThrows(IllegalStateException.class, () -> take(scheme)).getMessage();
      assertThat(refusal, containsString("in use by another driver (job job-of-"));
      assertThat(refusal, containsString("process "));
      assertThat(holder.printed(), holder.isAlive(), is(true));
      holder.kill();
    }
    try (CheckpointLease lease = take(scheme)) {
      lease.check();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {LOCKED, RENEWED})
  void whatWasGivenBackIsTakenAtOnce(String scheme) throws Exception {
    CheckpointLease first = take(scheme);
    first.close();
    assertThat(first.isHeld(), is(false));
    long start = System.nanoTime();
    try (CheckpointLease lease = take(scheme)) {
      assertThat(
          System.nanoTime() - start, lessThan(TimeUnit.MILLISECONDS.toNanos(2 * LEASE_MILLIS)));
      assertThrows(IllegalStateException.class, () -> take(scheme));
      lease.check();
    }
  }

  /** A process that is stopped shows no sign of life, and finds out when it goes on. */
  @Test
  void aDriverThatIsHeldUpLosesWhatAnotherHasTakenMeanwhile() throws Exception {
    try (ForkedProgram.Running holder = holder(RENEWED)) {
      holder.signal("STOP");
      try (CheckpointLease lease = take(RENEWED)) {
        holder.signal("CONT");
        Await.until("its loss", () -> holder.printed().contains("lost"), holder::printed);
        holder.awaitEnd();
        lease.check();
      }
    }
  }

  @Test
  void aHolderWhoseFileIsGoneDoesNotGoOn() throws Exception {
    try (CheckpointLease lease = take(RENEWED)) {
      Files.delete(directory.resolve("beam/lease"));
      Await.until("its loss", lease::isLost, () -> lease);
      assertThat(
          assertThrows(IllegalStateException.class, lease::check).getMessage(),
          containsString("does not go on"));
    }
  }

  /** Each has seen the file stand still, and writes it, before the other has. */
  @Test
  void ofTwoThatTakeOverAtTheSameTimeOneHasIt() throws Exception {
    holder(RENEWED).kill();
    CyclicBarrier bothTakeOver = new CyclicBarrier(2);
    Executor threads = task -> new Thread(task, "taker").start();
    List<CompletableFuture<CheckpointLease>> takers =
        IntStream.range(0, 2)
            .mapToObj(
                taker -> CompletableFuture.supplyAsync(() -> takeTogether(bothTakeOver), threads))
            .toList();
    for (CompletableFuture<CheckpointLease> taker : takers) {
      taker.handle((lease, failure) -> lease).join();
    }
    List<CheckpointLease> taken =
        takers.stream()
            .filter(taker -> !taker.isCompletedExceptionally())
            .map(CompletableFuture::join)
            .toList();
    try {
      assertThat(taken.size(), is(1));
      taken.get(0).check();
    } finally {
      taken.forEach(CheckpointLease::close);
    }
  }

  /** Takes the lease over; its first write waits for that of whoever has the barrier too. */
  private CheckpointLease takeTogether(CyclicBarrier barrier) {
    try {
      Configuration configuration = LocalFilesBySchemeOnly.configuration();
      org.apache.hadoop.fs.Path beam = new org.apache.hadoop.fs.Path(location(RENEWED));
      CheckpointFileManager files = CheckpointFileManager$.MODULE$.create(beam, configuration);
      AtomicBoolean waited = new AtomicBoolean();
      CheckpointFileManager waiting =
          (CheckpointFileManager)
              Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {CheckpointFileManager.class},
                  (proxy, method, arguments) -> {
                    if (method.getName().equals("createAtomic") && waited.compareAndSet(false, true)) {
                      barrier.await();
                    }
                    return method.invoke(files, arguments);
                  });
      return RenewedLease.take(
          new org.apache.hadoop.fs.Path(beam, CheckpointLease.LEASE_FILE),
          waiting,
          "one of two",
          TAKEN_OVER_MILLIS);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
