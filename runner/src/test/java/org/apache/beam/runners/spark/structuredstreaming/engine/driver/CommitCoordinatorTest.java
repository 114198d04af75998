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

import static org.apache.beam.runners.spark.structuredstreaming.engine.task.CommitCoordinatorRef.DENIED;
import static org.apache.beam.runners.spark.structuredstreaming.engine.task.CommitCoordinatorRef.GRANTED;
import static org.apache.beam.runners.spark.structuredstreaming.engine.task.CommitCoordinatorRef.WAIT;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Real tasks of Spark ask for one place, as attempts of one task would. */
@Timeout(60)
class CommitCoordinatorTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2,3]");

  /** Tasks run in this JVM: what tells each of them how to end, by its number. */
  private static final Map<Integer, CompletableFuture<Boolean>> ENDS = new ConcurrentHashMap<>();

  /** The attempt that runs last of each task. */
  private static final Map<Integer, Long> ATTEMPTS = new ConcurrentHashMap<>();

  private final AtomicBoolean mayWrite = new AtomicBoolean(true);
  private CommitCoordinator coordinator;
  private JavaFutureAction<Void> job;

  @BeforeEach
  void startTasks() {
    coordinator =
        CommitCoordinator.start(
            SPARK.session().sparkContext(), UUID.randomUUID().toString(), mayWrite::get);
    coordinator.epochBegins(7);
    ENDS.put(0, new CompletableFuture<>());
    ENDS.put(1, new CompletableFuture<>());
    ATTEMPTS.clear();
    job =
        JavaSparkContext.fromSparkContext(SPARK.session().sparkContext())
            .parallelize(List.of(0, 1), 2)
            .foreachAsync(CommitCoordinatorTest::runTask);
    Await.until("both tasks", () -> ATTEMPTS.size() == 2, ATTEMPTS::toString);
  }

  private static void runTask(int number) {
    ATTEMPTS.put(number, TaskContext.get().taskAttemptId());
    boolean fails = TaskContext.get().attemptNumber() == 0 && ENDS.get(number).join();
    if (fails) {
      throw new IllegalStateException("the task is to fail");
    }
  }

  @AfterEach
  void endTasks() throws Exception {
    ENDS.values().forEach(end -> end.complete(false));
    job.get();
    coordinator.close();
  }

  private int ask(long epoch, int task) {
    return coordinator.answer(epoch, 1, 0, ATTEMPTS.get(task));
  }

  @Test
  void oneAttemptIsLetThroughAndMayAskAgain() {
    assertThat(ask(7, 0), is(GRANTED));
    assertThat(ask(7, 1), is(WAIT));
    assertThat(ask(7, 0), is(GRANTED));
    assertThat("another place", coordinator.answer(7, 1, 1, ATTEMPTS.get(1)), is(GRANTED));
  }

  @Test
  void theNextOneIsLetThroughOnceTheFirstHasFailed() {
    assertThat(ask(7, 0), is(GRANTED));
    ENDS.get(0).complete(true);
    Await.until("the other's turn", () -> ask(7, 1) == GRANTED, ATTEMPTS::toString);
    // The attempt that has come in the place of the failed one.
    Await.until("the second attempt's end", () -> ask(7, 0) != GRANTED, ATTEMPTS::toString);
  }

  @Test
  void nobodyIsLetThroughOnceTheFirstHasSucceeded() {
    assertThat(ask(7, 0), is(GRANTED));
    ENDS.get(0).complete(false);
    Await.until("the end of the first", () -> ask(7, 0) == DENIED, ATTEMPTS::toString);
    assertThat(ask(7, 1), is(WAIT));
  }

  @Test
  void attemptsOfOtherEpochsAndOfNoTaskAreDenied() {
    assertThat(ask(6, 0), is(DENIED));
    assertThat(coordinator.answer(7, 1, 0, Long.MAX_VALUE), is(DENIED));
    coordinator.epochBegins(8);
    assertThat(ask(7, 0), is(DENIED));
    assertThat(ask(8, 0), is(GRANTED));
  }

  @Test
  void nobodyIsLetThroughOnceTheDriverHasLostItsCheckpoint() {
    mayWrite.set(false);
    assertThat(ask(7, 0), is(DENIED));
    mayWrite.set(true);
    assertThat(ask(7, 0), is(GRANTED));
  }

  @Test
  void afterItsCloseNobodyIsLetThroughAndThoseThatWereAreWaitedFor() throws InterruptedException {
    assertThat(ask(7, 0), is(GRANTED));
    assertThat(coordinator.close(20), is(false));
    assertThat(ask(7, 0), is(DENIED));
    ENDS.get(0).complete(false);
    assertThat(coordinator.close(20_000), is(true));
  }

  @Test
  void theWaitForThoseThatWereLetThroughCanBeInterrupted() {
    assertThat(ask(7, 0), is(GRANTED));
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> coordinator.close(20_000));
  }
}
