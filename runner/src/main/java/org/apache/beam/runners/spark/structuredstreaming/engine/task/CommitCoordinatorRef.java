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

import java.io.Closeable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.executor.CommitDeniedException;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.util.RpcUtils;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * What tasks ask before they make anything durable: the driver's coordinator of commits, which lets one
 * attempt of a task through and no attempt of an epoch that is over. Used by the tasks of one JVM.
 *
 * <p>Questions and answers are of the JDK's own types: Spark's messages are read by a class loader that
 * need not know the classes of a pipeline.
 */
public final class CommitCoordinatorRef implements Closeable {
  /** The attempt may make its work durable. */
  public static final int GRANTED = 0;

  /** Another attempt is at it: the one that asks is to ask again, unless Spark ends it. */
  public static final int WAIT = 1;

  /** What the attempt has done is not needed any more. */
  public static final int DENIED = 2;

  private static final ClassTag<Integer> ANSWER = ClassTag$.MODULE$.apply(Integer.class);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final RpcEndpointRef coordinator;

  private CommitCoordinatorRef(RpcEndpointRef coordinator) {
    this.coordinator = coordinator;
  }

  /** The name of the coordinator of one start of a query. */
  public static String endpointName(String runKey) {
    return "beam-commits-" + runKey;
  }

  /** Finds the coordinator in the driver; called on an executor, which may be the driver's JVM. */
  static CommitCoordinatorRef of(String runKey) {
    SparkEnv env = SparkEnv.get();
    return new CommitCoordinatorRef(
        RpcUtils.makeDriverRef(endpointName(runKey), env.conf(), env.rpcEnv()));
  }

  /**
   * Returns when the task may make its work durable. Called by its thread, behind its last work and
   * before anything is written.
   *
   * @throws IllegalStateException if it never may; its cause tells Spark not to count that as the task's
   *     failure
   */
  void awaitPermit(TaskAddress address, TaskContext task) {
    long[] question = {
      address.epoch(), address.level(), address.partition(), task.taskAttemptId()
    };
    int answer = coordinator.askSync(question, ANSWER);
    while (answer == WAIT) {
      pause(task);
      answer = coordinator.askSync(question, ANSWER);
    }
    if (answer != GRANTED) {
      String message =
          "Attempt " + task.attemptNumber() + " of partition " + address.partition() + " on level "
              + address.level() + " in epoch " + address.epoch() + " is not to be committed: another"
              + " attempt was, or the epoch is run again.";
      throw new IllegalStateException(
          message,
          new CommitDeniedException(
              message, task.stageId(), task.partitionId(), task.attemptNumber()));
    }
  }

  /** Nothing is to be let go of: the connection is the JVM's. */
  @Override
  public void close() {}

  private static void pause(TaskContext task) {
    LockSupport.parkNanos(PAUSE_NANOS);
    // An interruption that is not Spark's ends the next question.
    task.killTaskIfInterrupted();
  }
}
