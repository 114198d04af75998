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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.io.IOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LevelGraph;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.EpochTime;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.KeyedStepRunner;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.KeyedStepRunners;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.SideInputs;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepStatistics;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.Work;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.SpillingStateRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.runners.spark.structuredstreaming.translation.SplittableParDoStep;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * Runs a step by the runner that runs it in a streaming pipeline, group by group: a group is a key,
 * or for a step that has no use for keys all there is. What is an epoch to the runner is all that the
 * group has, and its state is in memory, or past a limit on disk, and gone when the group is done.
 *
 * <pre>
 * epoch 0:      the group's elements, against the beginning of time; then the end of time
 * epoch e + 1:  nothing but the end of time, while the step has something left to do
 * time(e)     = max(the wall's, time(e - 1) + 1)
 * </pre>
 *
 * <p>A splittable DoFn's elements are resumed when their delay is over; the task waits for that. Other
 * timers by processing time fire as far as the end of time waits for them.
 */
final class SortedWork implements RootWork {
  private static final long LONGEST_WAIT_MILLIS = 100;

  private final KeyedStep step;
  private final int root;
  private final GroupSorter sorter;
  private final SortedRecords records;
  private final LevelGraph graph;
  private final PipelineOptions options;
  private final SideInputs sideInputs;
  private final RecordInput replay;
  private KeyedStepRunner last;
  private long rowsOut;

  /**
   * @param root the number of the step in its level
   * @param edges number of edges in the plan
   */
  SortedWork(
      KeyedStep step,
      int root,
      GroupSorter sorter,
      LevelGraph graph,
      PipelineOptions options,
      SideInputs sideInputs,
      int edges) {
    this.step = step;
    this.root = root;
    this.sorter = sorter;
    this.records = SortedRecords.of(step);
    this.graph = graph;
    this.options = options;
    this.sideInputs = sideInputs;
    this.replay = new RecordInput(edges);
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    records.read(record);
    sorter.insert(root, records.identity(), records.body());
  }

  @Override
  public Work group(SortedGroups groups) {
    return Work.sequence(new Epochs(groups));
  }

  @Override
  public void finish() {
    if (last != null) {
      last.finishBundle();
    }
    for (PlanCollection output : step.outputs()) {
      if (graph.doFn(step) == null) {
        graph.metrics().countElements(step.fullName(), output, rowsOut);
      }
    }
  }

  /** The work of one group: for every epoch, that of each of its phases. */
  private final class Epochs implements Iterator<Work> {
    private final SortedGroups groups;
    private final SpillingStateRows rows = new SpillingStateRows();
    private KeyedStepRunner runner;
    private boolean first = true;
    private long timeMillis = Long.MIN_VALUE;
    private long resumeMillis = Long.MIN_VALUE;
    private Phase phase = Phase.WAIT;

    private enum Phase {
      WAIT,
      OPEN,
      START,
      RECEIVE,
      END_OF_ELEMENTS,
      WATERMARK,
      FINISH,
      DONE
    }

    Epochs(SortedGroups groups) {
      this.groups = groups;
    }

    @Override
    public boolean hasNext() {
      return phase != Phase.DONE;
    }

    @Override
    public Work next() {
      if (phase == Phase.DONE) {
        throw new NoSuchElementException();
      }
      Phase now = phase;
      phase = behind(now);
      return switch (now) {
        case WAIT -> this::waitForTime;
        case OPEN -> Work.once(this::open);
        case START -> first ? Work.NONE : runner.startOfEpoch();
        case RECEIVE -> first ? this::receiveOne : Work.NONE;
        case END_OF_ELEMENTS -> runner.endOfElements();
        case WATERMARK -> runner.advanceWatermark(BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis());
        case FINISH -> Work.once(this::finishEpoch);
        case DONE -> Work.NONE;
      };
    }

    private static Phase behind(Phase phase) {
      return switch (phase) {
        case WAIT -> Phase.OPEN;
        case OPEN -> Phase.START;
        case START -> Phase.RECEIVE;
        case RECEIVE -> Phase.END_OF_ELEMENTS;
        case END_OF_ELEMENTS -> Phase.WATERMARK;
        case WATERMARK -> Phase.FINISH;
        case FINISH, DONE -> Phase.DONE;
      };
    }

    private void open() {
      timeMillis = Math.max(System.currentTimeMillis(), timeMillis + 1);
      runner =
          KeyedStepRunners.create(
              step, graph, rows, options, sideInputs, new EpochTime(timeMillis, false, false));
      last = runner;
    }

    /** Waits a little, if what is left to do waits for a time. */
    private boolean waitForTime() {
      long now = System.currentTimeMillis();
      if (resumeMillis < now) {
        return false;
      }
      long left = resumeMillis - now;
      // An interruption ends it too: the task looks for that between two pieces of work.
      LockSupport.parkNanos(
          TimeUnit.MILLISECONDS.toNanos(Math.min(left + 1, LONGEST_WAIT_MILLIS)));
      return true;
    }

    private boolean receiveOne() {
      try {
        if (!groups.nextRecord()) {
          return false;
        }
        replay.reset(groups.body());
        replay.next();
        runner.receive(replay);
        return true;
      } catch (IOException e) {
        throw new StepFailedException(step.fullName(), "reading an element of a group", e);
      }
    }

    private void finishEpoch() {
      runner.finish();
      rowsOut += runner.statistics().rowsOut();
      first = false;
      StepStatistics statistics = runner.statistics();
      long timer = statistics.earliestProcessingTimerMillis();
      boolean resumes = step instanceof SplittableParDoStep && timer != Long.MAX_VALUE;
      resumeMillis = resumes && !statistics.hasPending() ? timer : Long.MIN_VALUE;
      if (resumes || statistics.hasPending()) {
        phase = Phase.WAIT;
      } else {
        rows.close();
      }
    }
  }
}
