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

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExternalClusterManager;
import org.apache.spark.scheduler.SchedulerBackend;
import org.apache.spark.scheduler.TaskScheduler;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.local.LocalSchedulerBackend;
import scala.collection.JavaConverters;
import scala.collection.Seq;
import scala.collection.immutable.Map;

/**
 * Runs tasks in this JVM, says that it can be asked for executors, and does not answer when it is. Spark
 * finds it by {@code META-INF/services}.
 */
public final class SilentClusterManager implements ExternalClusterManager {
  /** The master that stands for it. */
  static final String MASTER = "silent-cluster-manager";

  private static final int CORES = 2;
  private static final CountDownLatch ASKED = new CountDownLatch(1);
  private static final CountDownLatch ANSWERS = new CountDownLatch(1);

  /** Waits until it was asked for executors. */
  static void awaitAsked() throws InterruptedException {
    ASKED.await();
  }

  /** Lets go whoever waits for an answer. */
  static void answer() {
    ANSWERS.countDown();
  }

  @Override
  public boolean canCreate(String master) {
    return master.equals(MASTER);
  }

  @Override
  public TaskScheduler createTaskScheduler(SparkContext context, String master) {
    return new TaskSchedulerImpl(context);
  }

  @Override
  public SchedulerBackend createSchedulerBackend(
      SparkContext context, String master, TaskScheduler scheduler) {
    return new Backend(context, (TaskSchedulerImpl) scheduler);
  }

  @Override
  public void initialize(TaskScheduler scheduler, SchedulerBackend backend) {
    ((TaskSchedulerImpl) scheduler).initialize(backend);
  }

  private static final class Backend extends LocalSchedulerBackend
      implements ExecutorAllocationClient {
    Backend(SparkContext context, TaskSchedulerImpl scheduler) {
      super(context.getConf(), scheduler, CORES);
    }

    private static boolean noAnswer() {
      ASKED.countDown();
      try {
        ANSWERS.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException("interrupted", e);
      }
      return false;
    }

    private static Seq<String> texts(String... texts) {
      return JavaConverters.asScalaBuffer(List.of(texts)).toSeq();
    }

    @Override
    public Seq<String> getExecutorIds() {
      return texts("the only one");
    }

    @Override
    public boolean isExecutorActive(String executor) {
      return true;
    }

    @Override
    public boolean requestTotalExecutors(
        Map<Object, Object> wanted,
        Map<Object, Object> localityAware,
        Map<Object, Map<String, Object>> hosts) {
      return noAnswer();
    }

    @Override
    public boolean requestExecutors(int more) {
      return noAnswer();
    }

    @Override
    public Seq<String> killExecutors(
        Seq<String> executors, boolean adjustTarget, boolean countFailures, boolean force) {
      noAnswer();
      return texts();
    }

    @Override
    public boolean decommissionExecutorsOnHost(String host) {
      return noAnswer();
    }

    @Override
    public boolean killExecutorsOnHost(String host) {
      return noAnswer();
    }
  }
}
