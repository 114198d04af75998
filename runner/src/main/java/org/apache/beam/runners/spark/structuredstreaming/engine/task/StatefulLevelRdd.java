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

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStores;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.LiveExecutors;
import org.apache.spark.Partition;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.ExecutorCacheTaskLocation;
import org.apache.spark.sql.execution.streaming.state.StateStoreCoordinatorRef;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.JavaConverters;

/** A level behind a shuffle in one epoch, whose partitions have state in Spark's stores. */
public final class StatefulLevelRdd extends LevelRdd {
  private final EpochTasks tasks;
  private final transient StateStoreCoordinatorRef coordinator;
  private transient List<Optional<String>> placement;

  /**
   * @param lower the shuffles of the levels below, by their number
   */
  public StatefulLevelRdd(
      SparkContext context,
      EpochTasks tasks,
      int level,
      List<ShuffleDependency<Object, Object, Object>> lower,
      StateStoreCoordinatorRef coordinator) {
    super(context, level, lower);
    this.tasks = tasks;
    this.coordinator = coordinator;
  }

  @Override
  public Partition[] getPartitions() {
    return NumberedPartition.range(tasks.parallelism());
  }

  @Override
  public Iterator<Tuple2<Object, Object>> compute(Partition split, TaskContext context) {
    return tasks.keyedTask(
        level(), split.index(), context, blocks(tasks.layout(), split.index(), context));
  }

  /** Where the partition's state is loaded, unless that executor has more than its share. */
  @Override
  public scala.collection.Seq<String> getPreferredLocations(Partition split) {
    List<String> locations =
        placement().get(split.index()).map(List::of).orElse(List.of());
    return JavaConverters.asScalaBuffer(locations).toSeq();
  }

  /** Of all partitions, found out once: each is asked for on its own. */
  private synchronized List<Optional<String>> placement() {
    if (placement == null) {
      List<Optional<String>> open = new ArrayList<>();
      for (int partition = 0; partition < tasks.parallelism(); partition++) {
        open.add(
            StateStores.preferredLocation(
                coordinator,
                StateStores.id(tasks.stateLocation(), level(), partition, tasks.queryRunId())));
      }
      List<String> live =
          LiveExecutors.places().stream().map(ExecutorCacheTaskLocation::toString).toList();
      placement = StatePlacement.of(open, live, level());
    }
    return placement;
  }
}
