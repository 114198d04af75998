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
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.BundleCallback;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LevelGraph;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepStatistics;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import scala.Tuple2;
import scala.collection.AbstractIterator;

/**
 * One task of a level: an iterator of shuffle blocks that does the level's work as Spark's shuffle
 * writer pulls, a little for every block. When it ends, everything of the epoch is done: bundles
 * finished, mark or state durable, watermarks sent.
 *
 * <p>The graph goes back to the runtime when the task succeeds and is torn down when it fails in any
 * way, being killed included: both by the listener of the task's completion.
 */
public abstract class LevelTask extends AbstractIterator<Tuple2<Object, Object>> {
  private final TaskAddress address;
  private final EngineRuntime runtime;
  private final TaskContext context;
  private final ReportAccumulator reports;
  private final LevelGraph graph;
  private boolean done;

  /** Takes a graph and sees to its return. */
  protected LevelTask(
      TaskAddress address,
      EngineRuntime runtime,
      TaskContext context,
      ReportAccumulator reports) {
    this.address = address;
    this.runtime = runtime;
    this.context = context;
    this.reports = reports;
    this.graph = runtime.acquire(address.level(), address.partition());
    graph.startEpoch();
  }

  /** Listens for the task's end; called once, before the first block is pulled. */
  public final LevelTask start() {
    TaskCompletionListener listener = ended -> end();
    context.addTaskCompletionListener(listener);
    return this;
  }

  @Override
  public final boolean hasNext() {
    while (!graph.output().hasReady()) {
      if (done) {
        return false;
      }
      try {
        endIfKilled();
        done = !work();
        if (done) {
          reports.add(report(true));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (LinkageError | StackOverflowError e) {
        // Of a coder, say, where no step's runner has caught it: to be told from Spark's own.
        throw new StepFailedException("Level " + address.level() + " of the pipeline", "a task", e);
      }
    }
    return true;
  }

  @Override
  public final Tuple2<Object, Object> next() {
    return graph.output().poll();
  }

  /**
   * Fails if Spark has killed the task. User code need not heed that its thread is interrupted, and its
   * query may be over when it returns: called before each piece of work.
   */
  protected final void endIfKilled() {
    context.killTaskIfInterrupted();
  }

  /**
   * Waits until the task may make its work durable, which one attempt at a time may; called behind the
   * last work and before anything is written.
   */
  protected final void awaitCommitPermit() {
    endIfKilled();
    runtime
        .shared(CommitCoordinatorRef.class, () -> CommitCoordinatorRef.of(runtime.runKey()))
        .awaitPermit(address, context);
  }

  protected final LevelGraph graph() {
    return graph;
  }

  protected final EngineRuntime runtime() {
    return runtime;
  }

  protected final TaskAddress address() {
    return address;
  }

  /**
   * Does a piece of the work.
   *
   * @return false when it was the last one
   */
  protected abstract boolean work() throws IOException;

  /** Lets go of what the task holds besides its graph. Called once, at the task's end. */
  protected abstract void release(boolean succeeded);

  /** What was read, null if this task reads no source. */
  protected abstract SourceReport sourceReport();

  protected abstract List<StepStatistics> stepStatistics();

  private void end() {
    boolean succeeded = done && !context.isFailed() && !context.isInterrupted();
    try {
      release(succeeded);
    } finally {
      List<BundleCallback> callbacks = graph.takeCallbacks();
      if (succeeded) {
        runtime.callbacks().add(address, context.taskAttemptId(), callbacks);
        runtime.release(address.level(), graph);
      } else {
        graph.output().reset();
        runtime.discard(graph);
        reports.add(report(false));
      }
    }
  }

  private TaskReport report(boolean succeeded) {
    return new TaskReport(
        address.epoch(),
        address.level(),
        address.partition(),
        context.taskAttemptId(),
        succeeded,
        succeeded ? sourceReport() : null,
        succeeded ? stepStatistics() : List.of(),
        graph.hasCallbacks(),
        graph.metrics().containers());
  }
}
