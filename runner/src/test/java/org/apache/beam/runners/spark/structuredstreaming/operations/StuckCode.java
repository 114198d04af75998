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
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.PipelineResult.State;

/** Code that does not return: the first call in a test gets stuck, and no other. */
final class StuckCode {
  private static final AtomicReference<Gate> GATE = new AtomicReference<>();
  private static final long PATIENCE_SECONDS = Runs.PATIENCE.toSeconds();
  private static final long PROMPT_SECONDS = 20;

  private StuckCode() {}

  /** What code does that is stuck, and interrupted. */
  enum Kind {
    WAITS {
      @Override
      void getStuck(Gate gate) throws InterruptedException {
        gate.open.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
      }
    },
    IS_BUSY {
      @Override
      void getStuck(Gate gate) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (gate.open.getCount() > 0 && System.nanoTime() < end) {
          // Worse than not to look: nobody behind it sees the interruption either.
          Thread.interrupted();
          Thread.onSpinWait();
        }
      }
    };

    abstract void getStuck(Gate gate) throws InterruptedException;
  }

  /** Where the first call of a test gets stuck. */
  private static final class Gate {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);
    private final CountDownLatch left = new CountDownLatch(1);

    /** Whether nobody has been here before. */
    synchronized boolean isFirst() {
      boolean first = reached.getCount() > 0;
      reached.countDown();
      return first;
    }
  }

  /** Before a test: the next call gets stuck. */
  static void arm() {
    GATE.set(new Gate());
  }

  /** After a test: lets go what is stuck yet. */
  static void open() {
    GATE.get().open.countDown();
  }

  /** Whether the calling code is to get stuck: nobody has asked before. */
  static boolean isFirst() {
    return GATE.get().isFirst();
  }

  static void getStuck(Kind kind) throws InterruptedException {
    kind.getStuck(GATE.get());
  }

  /** Tells that the code that was stuck has been left for good. */
  static void left() {
    GATE.get().left.countDown();
  }

  /** Cancels a pipeline whose code is stuck, within a time that has nothing to do with that code. */
  static void cancel(SparkStructuredStreamingPipelineResult result) throws InterruptedException {
    GATE.get().reached.await();
    long start = System.nanoTime();
    assertThat(result.cancel(), is(State.CANCELLED));
    assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start), lessThan(PROMPT_SECONDS));
  }

  /** Lets the code go on, and waits until it has been left. */
  static void letGo() throws InterruptedException {
    open();
    awaitLeft();
  }

  static void awaitLeft() throws InterruptedException {
    assertThat(
        "the end of what was stuck", GATE.get().left.await(PATIENCE_SECONDS, TimeUnit.SECONDS), is(true));
  }
}
