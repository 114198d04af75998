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

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.CommitCoordinatorRef;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpoint;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.TaskSetManager;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Decides which attempt of a task may write its mark or commit its state: for every epoch, level and
 * partition the one whose output Spark uses. Marks and versions of state are addressed by epoch and
 * partition, so two attempts that write at the same time, or one that writes after its epoch was given up,
 * would leave what no output goes with.
 *
 * <p>Rules, for an attempt {@code a} that asks, with {@code h} the attempt that was let through last:
 *
 * <pre>
 * denied(a)   if the run is over, the driver has lost its checkpoint, a's epoch is not the running one,
 *             or a's stage attempt is given up
 * granted(a)  if there is no h, or h = a, or h has ended and its output is lost or was never there
 * waits(a)    else: while h runs, or until Spark ends a because h has succeeded
 * durable writers of a place at any time &lt;= 1
 * </pre>
 *
 * <p>Speculative copies are one case; others are a task that a lost connection made Spark start again, and
 * one whose query has failed and is started again while user code does not heed an interruption. Attempts
 * of a driver that has died cannot ask. What an attempt was let through for can last: {@link #close} waits
 * for it.
 *
 * <p>Whether an attempt runs is asked of Spark's scheduler itself, under its lock: events of listeners come
 * late and may be dropped. Asked by Spark's threads for messages, told by the query's thread.
 */
final class CommitCoordinator implements RpcEndpoint {
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final RpcEnv rpcEnv;
  private final TaskSchedulerImpl scheduler;
  private final Map<Long, Holder> holders = new HashMap<>();
  private final RpcEndpointRef self;
  private final BooleanSupplier mayWrite;
  private long epoch = -1;
  private boolean closed;

  /** An attempt that was let through, with the stage attempt that it is of. */
  private record Holder(long attempt, TaskSetManager stage) {
    TaskInfo info() {
      return stage.taskInfos().apply(attempt);
    }
  }

  private CommitCoordinator(SparkContext context, String runKey, BooleanSupplier mayWrite) {
    this.mayWrite = mayWrite;
    this.rpcEnv = SparkEnv.get().rpcEnv();
    if (!(context.taskScheduler() instanceof TaskSchedulerImpl known)) {
      throw new IllegalStateException(
          "The cluster manager of master " + context.master() + " has a scheduler of its own, "
              + context.taskScheduler().getClass().getName() + ", which cannot be asked which attempt of a"
              + " task counts. Use one of the masters that come with Spark.");
    }
    this.scheduler = known;
    this.self = rpcEnv.setupEndpoint(CommitCoordinatorRef.endpointName(runKey), this);
  }

  /**
   * Starts to answer the tasks of one start of a query.
   *
   * @param mayWrite whether this driver may write to the checkpoint; asked under the scheduler's lock
   */
  static CommitCoordinator start(
      SparkContext context, String runKey, BooleanSupplier mayWrite) {
    return new CommitCoordinator(context, runKey, mayWrite);
  }

  @Override
  public RpcEnv rpcEnv() {
    return rpcEnv;
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext call) {
    return new AbstractPartialFunction<>() {
      @Override
      public boolean isDefinedAt(Object question) {
        return question instanceof long[];
      }

      @Override
      public BoxedUnit apply(Object question) {
        long[] asked = (long[]) question;
        call.reply(answer(asked[0], (int) asked[1], (int) asked[2], asked[3]));
        return BoxedUnit.UNIT;
      }
    };
  }

  /** An epoch begins: attempts of all earlier ones are denied from now on. */
  void epochBegins(long begun) {
    synchronized (scheduler) {
      epoch = begun;
      holders.clear();
    }
  }

  int answer(long askedEpoch, int level, int partition, long attempt) {
    synchronized (scheduler) {
      TaskSetManager stage = scheduler.taskIdToTaskSetManager().get(attempt);
      if (closed || !mayWrite.getAsBoolean() || askedEpoch != epoch || stage == null || stage.isZombie()) {
        return CommitCoordinatorRef.DENIED;
      }
      long place = (long) level << Integer.SIZE | partition;
      Holder holder = holders.get(place);
      if (holder != null && holder.attempt() != attempt && !isOutputGone(holder, stage)) {
        return CommitCoordinatorRef.WAIT;
      }
      holders.put(place, new Holder(attempt, stage));
      return CommitCoordinatorRef.GRANTED;
    }
  }

  /** Whether the holder has ended without an output, or with one that Spark is making anew. */
  private static boolean isOutputGone(Holder holder, TaskSetManager askingStage) {
    TaskInfo info = holder.info();
    if (!info.finished()) {
      return false;
    }
    return !info.successful()
        || holder.stage() != askingStage
        || !holder.stage().successful()[info.index()];
  }

  /** Lets nobody through any more. May be called again. */
  void close() {
    synchronized (scheduler) {
      if (closed) {
        return;
      }
      closed = true;
    }
    rpcEnv.stop(self);
  }

  /**
   * Lets nobody through any more, and waits for those that were let through.
   *
   * @param patienceMillis how long to wait
   * @return whether nobody writes any more
   */
  boolean close(long patienceMillis) throws InterruptedException {
    close();
    long start = System.nanoTime();
    while (isWriting()) {
      if (System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(patienceMillis)) {
        return false;
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return true;
  }

  private boolean isWriting() {
    synchronized (scheduler) {
      return holders.values().stream().anyMatch(holder -> !holder.info().finished());
    }
  }
}
