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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a cluster manager in threads of their own: one that does not answer, or refuses with an exception,
 * holds up the query for a bounded time and does not end it.
 *
 * <pre>
 * calls under way at any time &lt;= 1
 * time that a decision waits for a call &lt;= patience
 * </pre>
 *
 * <p>For one thread, the query's.
 */
final class AllocationCalls {
  private static final Logger LOG = LoggerFactory.getLogger(AllocationCalls.class);

  private final String pipelineName;
  private final long patienceMillis;
  private String asked = "";
  private FutureTask<?> underWay = new FutureTask<>(() -> true);

  /**
   * @param pipelineName told in warnings
   * @param patienceMillis how long to wait for an answer
   */
  AllocationCalls(String pipelineName, long patienceMillis) {
    this.pipelineName = pipelineName;
    this.patienceMillis = patienceMillis;
    underWay.run();
  }

  /**
   * Makes a call and waits for its answer.
   *
   * @param what is asked for, told in warnings
   * @return the answer; none if there was none in time, which is warned of, or if an earlier call has
   *     had none yet: then this one is not made
   */
  <T> Optional<T> ask(String what, Callable<T> call) throws InterruptedException {
    if (!underWay.isDone()) {
      LOG.warn(
          "Pipeline {} does not ask the cluster manager for {}: it has not answered yet to {}",
          pipelineName,
          what,
          asked);
      return Optional.empty();
    }
    FutureTask<T> task = new FutureTask<>(call);
    underWay = task;
    asked = what;
    Thread thread = new Thread(task, "beam-executor-allocation");
    thread.setDaemon(true);
    thread.start();
    try {
      return Optional.of(task.get(patienceMillis, TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      LOG.warn(
          "The cluster manager has not answered pipeline {} within {} ms, which asked it for {}. The pipeline"
              + " goes on with the executors it has, and asks for nothing further until it does",
          pipelineName,
          patienceMillis,
          what);
    } catch (ExecutionException e) {
      LOG.warn(
          "The cluster manager could not be asked by pipeline {} for {}; the next decision repeats it if it"
              + " is still wanted",
          pipelineName,
          what,
          e);
    }
    return Optional.empty();
  }
}
