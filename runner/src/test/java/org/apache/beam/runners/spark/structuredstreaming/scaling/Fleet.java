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
package org.apache.beam.runners.spark.structuredstreaming.scaling;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** The executors that come and go, and the tasks that did not end well, between its creation and close. */
final class Fleet extends SparkListener implements AutoCloseable {
  private final SparkContext context;
  private final Set<String> live = new HashSet<>();
  private final List<Integer> sizes = new ArrayList<>();
  private final List<String> removed = new ArrayList<>();
  private final List<String> failedTasks = new ArrayList<>();

  private Fleet(SparkContext context) {
    this.context = context;
  }

  /** Begins to listen, when all executors of the start are there. */
  static Fleet of(TestSpark spark) {
    SparkContext context = spark.session().sparkContext();
    Fleet fleet = new Fleet(context);
    scala.collection.JavaConverters.seqAsJavaList(context.getExecutorIds()).forEach(fleet::arrived);
    context.addSparkListener(fleet);
    return fleet;
  }

  /** How many executors there are. */
  synchronized int size() {
    return live.size();
  }

  /** How many executors there were, after each arrival and removal. */
  synchronized List<Integer> sizes() {
    return List.copyOf(sizes);
  }

  /** The executors that are gone, in that order. */
  synchronized List<String> removed() {
    return List.copyOf(removed);
  }

  /** Why tasks did not end well. */
  synchronized List<String> failedTasks() {
    return List.copyOf(failedTasks);
  }

  private synchronized void arrived(String executor) {
    if (live.add(executor)) {
      sizes.add(live.size());
    }
  }

  @Override
  public void onExecutorAdded(SparkListenerExecutorAdded added) {
    arrived(added.executorId());
  }

  @Override
  public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved gone) {
    if (live.remove(gone.executorId())) {
      sizes.add(live.size());
      removed.add(gone.executorId());
    }
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
    if (!ended.taskInfo().successful()) {
      failedTasks.add("stage " + ended.stageId() + ": " + ended.reason());
    }
  }

  @Override
  public void close() {
    context.removeSparkListener(this);
  }
}
