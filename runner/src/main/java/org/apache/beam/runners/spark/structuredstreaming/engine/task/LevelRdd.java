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
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import scala.Product2;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.JavaConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * A level behind a shuffle: {@code N} partitions, each reading its blocks out of the
 * shuffle of every lower level.
 *
 * <p>Partition {@code p} of level {@code k} is reduce partition {@code (k - j - 1) * N + p} of what
 * level {@code j} wrote.
 */
public class LevelRdd extends RDD<Tuple2<Object, Object>> {
  private static final ClassTag<Tuple2<Object, Object>> TAG = ClassTag$.MODULE$.apply(Tuple2.class);

  private final LevelTasks tasks;
  private final int level;
  private final ShuffleHandle[] handles;

  /**
   * @param lower the shuffles of the levels below, by their number
   */
  public LevelRdd(
      SparkContext context,
      LevelTasks tasks,
      int level,
      List<ShuffleDependency<Object, Object, Object>> lower) {
    super(context, JavaConverters.asScalaBuffer(new ArrayList<Dependency<?>>(lower)).toSeq(), TAG);
    this.tasks = tasks;
    this.level = level;
    this.handles = new ShuffleHandle[lower.size()];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = lower.get(i).shuffleHandle();
    }
  }

  @Override
  public Partition[] getPartitions() {
    return NumberedPartition.range(tasks.parallelism());
  }

  @Override
  public Iterator<Tuple2<Object, Object>> compute(Partition split, TaskContext context) {
    return tasks.keyedTask(level, split.index(), context, blocks(split.index(), context));
  }

  private Iterator<Product2<Object, Object>> blocks(int partition, TaskContext context) {
    ShuffleReadMetricsReporter metrics = context.taskMetrics().createTempShuffleReadMetrics();
    List<Iterator<Product2<Object, Object>>> readers = new ArrayList<>();
    for (int lower = 0; lower < handles.length; lower++) {
      int reduce = (level - lower - 1) * tasks.parallelism() + partition;
      ShuffleReader<Object, Object> reader =
          SparkEnv.get()
              .shuffleManager()
              .getReader(handles[lower], reduce, reduce + 1, context, metrics);
      readers.add(reader.read());
    }
    return new ConcatenatedIterator<>(readers.iterator());
  }
}
