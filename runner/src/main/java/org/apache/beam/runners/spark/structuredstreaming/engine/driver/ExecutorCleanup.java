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

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EngineRuntime;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamReaderCache;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.VoidFunction;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.ExecutorCacheTaskLocation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;
import scala.collection.JavaConverters;
import scala.collection.Seq;
import scala.reflect.ClassTag$;

/**
 * Takes down what executors keep alive of a query: DoFns and readers. In this JVM that is certain;
 * executors of their own are asked by a small job, which may miss one that is busy or just lost:
 * there, what is idle goes by its time-out.
 */
final class ExecutorCleanup {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorCleanup.class);
  private static final long LIMIT_SECONDS = 20;

  private ExecutorCleanup() {}

  /**
   * Cleans up after the query has ended; returns when that is done or its time is over.
   *
   * @param committedEpoch the last epoch that is committed, -1 if there is none or it is not known
   * @param usedAttempts the task attempts whose callbacks are to run, if their epoch is committed
   */
  static void run(
      SparkContext context,
      String runKey,
      String checkpointLocation,
      long committedEpoch,
      Set<Long> usedAttempts) {
    Cleaning cleaning = new Cleaning(runKey, checkpointLocation, committedEpoch, usedAttempts);
    cleaning.clean();
    if (context.isLocal() || context.isStopped()) {
      return;
    }
    int executors = Math.max(1, context.statusTracker().getExecutorInfos().length - 1);
    int tasks = executors * Math.max(1, context.defaultParallelism() / executors) * 2;
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      numbers.add(i);
    }
    JavaFutureAction<Void> job =
        JavaSparkContext.fromSparkContext(context)
            .parallelize(numbers, tasks)
            .foreachAsync(cleaning);
    try {
      job.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      job.cancel(true);
      LOG.warn(
          "Executors could not be asked to close readers and tear down DoFns; they do so when these"
              + " have been idle for --readerIdleTimeoutMillis",
          e);
    } catch (InterruptedException e) {
      job.cancel(true);
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Cleans up on one executor that no task of the query is running on, while the query goes on; returns
   * when that is done or its time is over.
   *
   * @return whether it is done
   */
  static boolean runOn(
      ExecutorCacheTaskLocation executor,
      SparkContext context,
      String runKey,
      String checkpointLocation,
      long committedEpoch,
      Set<Long> usedAttempts)
      throws InterruptedException {
    Cleaning cleaning = new Cleaning(runKey, checkpointLocation, committedEpoch, usedAttempts);
    String id = executor.executorId();
    Seq<Tuple2<Integer, Seq<String>>> placed = sequence(new Tuple2<>(0, sequence(executor.toString())));
    RDD<Integer> task = context.makeRDD(placed, ClassTag$.MODULE$.<Integer>apply(Integer.class));
    JavaFutureAction<List<Boolean>> job =
        task.toJavaRDD().map(number -> cleaning.cleanIfOn(id)).collectAsync();
    try {
      return job.get(LIMIT_SECONDS, TimeUnit.SECONDS).get(0);
    } catch (ExecutionException | TimeoutException e) {
      job.cancel(true);
      LOG.warn("Executor {} could not be asked to close readers and tear down DoFns", id, e);
      return false;
    }
  }

  private static <T> Seq<T> sequence(T element) {
    return JavaConverters.asScalaBuffer(List.of(element)).toSeq();
  }

  /** Cleans up in one JVM; sent to executors. */
  private static final class Cleaning implements VoidFunction<Integer>, Serializable {
    private final String runKey;
    private final String checkpointLocation;
    private final long committedEpoch;
    private final Set<Long> usedAttempts;

    Cleaning(
        String runKey, String checkpointLocation, long committedEpoch, Set<Long> usedAttempts) {
      this.runKey = runKey;
      this.checkpointLocation = checkpointLocation;
      this.committedEpoch = committedEpoch;
      this.usedAttempts = Set.copyOf(usedAttempts);
    }

    void clean() {
      EngineRuntime.close(runKey, committedEpoch, usedAttempts);
      BeamReaderCache.retireAll(checkpointLocation);
    }

    /** Cleans up if this is the JVM of that executor: a preference is all that Spark takes. */
    boolean cleanIfOn(String executorId) {
      boolean isThere = SparkEnv.get().executorId().equals(executorId);
      if (isThere) {
        clean();
      }
      return isThere;
    }

    @Override
    public void call(Integer number) {
      clean();
    }
  }
}
