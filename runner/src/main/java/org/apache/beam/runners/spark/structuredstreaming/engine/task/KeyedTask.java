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
package org.apache.beam.runners.spark.structuredstreaming.engine.task;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.EpochTime;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.KeyedStepRunner;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.KeyedStepRunners;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.SideInputs;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepStatistics;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.Work;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.Block;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.runners.spark.structuredstreaming.translation.Step;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.spark.TaskContext;
import scala.Product2;
import scala.collection.Iterator;

/**
 * A task of a level behind a shuffle: runs the level's keyed steps in one partition, and what is
 * fused behind them.
 *
 * <p>Phases: every step fires what is due by the epoch's processing time; all records are received
 * (elements go to their step, watermarks are kept); steps do what they do at the end of elements;
 * every step takes its new input watermark, {@code min over senders and edges}, and fires what is
 * due; bundles finish; state is committed; watermarks are sent. That all senders were heard is known
 * when the records end, as every task of a lower level sends its watermark before it ends.
 */
final class KeyedTask extends LevelTask {
  private static final long NOT_HEARD = Long.MAX_VALUE;
  private static final int PIECES_PER_CALL = 16;

  private final Iterator<Product2<Object, Object>> blocks;
  private final Level level;
  private final RecordInput record;
  private final PartitionState state;
  private final List<KeyedStepRunner> runners = new ArrayList<>();
  private final KeyedStepRunner[] runnerOfEdge;
  private final long[] heard;
  private Phase phase = Phase.START;
  private int next;
  private Work current;

  private enum Phase {
    START,
    RECEIVE,
    END_OF_ELEMENTS,
    WATERMARK
  }

  /**
   * @param state null if no step of the level has any
   */
  KeyedTask(
      TaskAddress address,
      EngineRuntime runtime,
      TaskContext context,
      ReportAccumulator reports,
      Iterator<Product2<Object, Object>> blocks,
      PartitionState state) {
    super(address, runtime, context, reports);
    this.blocks = blocks;
    this.state = state;
    this.level = runtime.plan().levels().get(address.level());
    int edges = runtime.plan().edges().size();
    this.record = new RecordInput(edges);
    this.runnerOfEdge = new KeyedStepRunner[edges];
    this.heard = new long[edges];
    Arrays.fill(heard, NOT_HEARD);
  }

  @Override
  protected boolean work() throws IOException {
    if (runners.isEmpty()) {
      open();
    }
    boolean more = phase == Phase.RECEIVE ? receiveBlock() : workOfSteps();
    if (more) {
      return true;
    }
    if (phase == Phase.WATERMARK) {
      finish();
      return false;
    }
    phase =
        switch (phase) {
          case START -> Phase.RECEIVE;
          case RECEIVE -> Phase.END_OF_ELEMENTS;
          case END_OF_ELEMENTS, WATERMARK -> Phase.WATERMARK;
        };
    return true;
  }

  @Override
  protected void release(boolean succeeded) {
    if (!succeeded && state != null) {
      state.abort();
    }
  }

  @Override
  protected SourceReport sourceReport() {
    return null;
  }

  @Override
  protected List<StepStatistics> stepStatistics() {
    List<StepStatistics> statistics = new ArrayList<>();
    for (KeyedStepRunner runner : runners) {
      statistics.add(runner.statistics());
    }
    return statistics;
  }

  private void open() {
    boolean drivenByStreams = !runtime().plan().testStreams().isEmpty();
    EpochTime time =
        new EpochTime(address().processingTimeMillis(), drivenByStreams, address().draining());
    SideInputs sideInputs = new SideInputs(runtime().materializedViews());
    for (Step root : level.roots()) {
      KeyedStepRunner runner =
          KeyedStepRunners.create(
              root,
              graph(),
              state == null ? null : state.rows(),
              runtime().options(),
              sideInputs,
              time);
      runners.add(runner);
      for (Edge edge : level.incoming()) {
        if (edge.target().index() == root.index()) {
          runnerOfEdge[edge.index()] = runner;
        }
      }
    }
  }

  /** Receives the records of one block; false if there is none left. */
  private boolean receiveBlock() throws IOException {
    if (!blocks.hasNext()) {
      return false;
    }
    record.reset((Block) blocks.next()._2());
    KeyedStepRunner active = null;
    MetricsContainer outer = graph().metrics().activate(null);
    long startNanos = System.nanoTime();
    try {
      while (record.next()) {
        int edge = record.edge();
        if (record.isControl()) {
          heard[edge] = Math.min(heard[edge], record.bytes().readLong());
        } else {
          if (runnerOfEdge[edge] != active) {
            startNanos = switchTo(active, runnerOfEdge[edge], startNanos);
            active = runnerOfEdge[edge];
          }
          receive(active);
        }
      }
    } catch (IOException | RuntimeException | LinkageError | StackOverflowError e) {
      throw failure(active, "receiving an element", e);
    } finally {
      switchTo(active, null, startNanos);
      graph().metrics().activate(outer);
    }
    return true;
  }

  private void receive(KeyedStepRunner runner) {
    try {
      runner.receive(record);
    } catch (IOException | RuntimeException e) {
      throw runner.failure("reading an element out of the shuffle", e);
    }
  }

  private long switchTo(KeyedStepRunner from, KeyedStepRunner to, long startNanos) {
    long now = System.nanoTime();
    if (from != null) {
      from.statistics().addNanos(now - startNanos);
    }
    if (to != null) {
      graph().metrics().activate(to.container());
    }
    return now;
  }

  /** Does a few pieces of one step's work in the current phase; false when all steps are through. */
  private boolean workOfSteps() {
    if (next == runners.size()) {
      next = 0;
      return false;
    }
    KeyedStepRunner runner = runners.get(next);
    MetricsContainer outer = graph().metrics().activate(runner.container());
    long startNanos = System.nanoTime();
    try {
      if (current == null) {
        current = workOf(runner);
      }
      for (int i = 0; i < PIECES_PER_CALL; i++) {
        if (!current.advance()) {
          current = null;
          next++;
          return true;
        }
      }
      return true;
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      throw failure(runner, "a timer, the end of elements or a watermark", e);
    } finally {
      runner.statistics().addNanos(System.nanoTime() - startNanos);
      graph().metrics().activate(outer);
    }
  }

  private Work workOf(KeyedStepRunner runner) {
    return switch (phase) {
      case START -> runner.startOfEpoch();
      case END_OF_ELEMENTS -> runner.endOfElements();
      case WATERMARK -> runner.advanceWatermark(inputWatermark(runner));
      case RECEIVE -> throw new IllegalStateException("Records are received by block, not by step");
    };
  }

  /** Names the step, unless a step behind it has been named as the one that failed. */
  private StepFailedException failure(KeyedStepRunner runner, String doing, Throwable cause) {
    String name = runner == null ? "Level " + level.number() : runner.step().fullName();
    return StepFailedException.of(name, doing, cause);
  }

  private long inputWatermark(KeyedStepRunner runner) {
    long watermark = NOT_HEARD;
    for (Edge edge : level.incoming()) {
      if (edge.target().index() == runner.step().index()) {
        if (heard[edge.index()] == NOT_HEARD) {
          throw new IllegalStateException(
              runner.step().fullName()
                  + ": no watermark has come from level "
                  + edge.fromLevel()
                  + " in epoch "
                  + address().epoch()
                  + ", though each of its tasks sends one.");
        }
        watermark = Math.min(watermark, heard[edge.index()]);
      }
    }
    return watermark;
  }

  private void finish() throws IOException {
    for (KeyedStepRunner runner : runners) {
      runner.finishBundle();
    }
    graph().finishBundles();
    for (KeyedStepRunner runner : runners) {
      long watermark = runner.finish();
      for (PlanCollection output : runner.step().outputs()) {
        graph().setWatermark(output, watermark);
        runner.countElements(output, graph().metrics());
      }
    }
    awaitCommitPermit();
    if (state != null) {
      state.commit();
    }
    graph().finishEpoch();
  }
}
