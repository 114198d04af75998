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

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.LevelRdd;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.NumberedPartition;
import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import org.apache.spark.Partition;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.DeterministicLevel;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.JavaConverters;

/**
 * A level of a batch pipeline: the partitions of its keyed steps, if it has any, and behind them one for
 * every split of its sources.
 *
 * <p>It is INDETERMINATE, as user code behind a source may be: Spark then runs again all that was made
 * of a lost output and never mixes two attempts.
 */
public final class BatchLevelRdd extends LevelRdd {
  private final int keyedPartitions;
  private final transient List<ReadPartition> splits;
  private final BatchTasks tasks;

  /**
   * @param lower the shuffles of the levels below, by their number
   * @param keyedPartitions how many partitions the level's keyed steps have
   * @param splits of its sources, numbered from {@code keyedPartitions} on
   */
  public BatchLevelRdd(
      SparkContext context,
      int level,
      List<ShuffleDependency<Object, Object, Object>> lower,
      int keyedPartitions,
      List<ReadPartition> splits,
      BatchTasks tasks) {
    super(context, level, lower);
    this.keyedPartitions = keyedPartitions;
    this.splits = List.copyOf(splits);
    this.tasks = tasks;
  }

  @Override
  public Partition[] getPartitions() {
    List<Partition> partitions = new ArrayList<>(List.of(NumberedPartition.range(keyedPartitions)));
    partitions.addAll(splits);
    return partitions.toArray(new Partition[0]);
  }

  @Override
  public Iterator<Tuple2<Object, Object>> compute(Partition partition, TaskContext context) {
    ViewBlocks views = new WrittenViews(context);
    if (partition instanceof ReadPartition split) {
      return tasks.readTask(level(), split, context, views);
    }
    int number = partition.index();
    return tasks.groupTask(
        level(), number, context, blocks(tasks.layout(), number, context), views);
  }

  @Override
  public scala.Enumeration.Value getOutputDeterministicLevel() {
    return DeterministicLevel.INDETERMINATE();
  }

  /** The views below as one task reads them. */
  private final class WrittenViews implements ViewBlocks {
    private final TaskContext context;

    WrittenViews(TaskContext context) {
      this.context = context;
    }

    @Override
    public List<Long> writers(Edge edge) {
      int partition = tasks.layout().ofView(edge);
      List<Long> writers = new ArrayList<>();
      Iterator<Tuple2<BlockManagerId, scala.collection.Seq<Tuple3<BlockId, Object, Object>>>> blocks =
          SparkEnv.get()
              .mapOutputTracker()
              .getMapSizesByExecutorId(shuffleId(edge.fromLevel()), partition);
      while (blocks.hasNext()) {
        for (Tuple3<BlockId, Object, Object> block :
            JavaConverters.seqAsJavaList(blocks.next()._2())) {
          writers.add(((ShuffleBlockId) block._1()).mapId());
        }
      }
      writers.sort(null);
      return writers;
    }

    @Override
    public Iterator<Product2<Object, Object>> read(Edge edge) {
      return blocks(edge.fromLevel(), tasks.layout().ofView(edge), context);
    }
  }
}
