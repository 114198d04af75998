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
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ShuffleLayout;
import org.apache.spark.Dependency;
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
 * A level that reads what the lower levels have written, of each of them what {@link ShuffleLayout}
 * says.
 */
public abstract class LevelRdd extends RDD<Tuple2<Object, Object>> {
  private static final ClassTag<Tuple2<Object, Object>> TAG = ClassTag$.MODULE$.apply(Tuple2.class);

  private final int level;
  private final ShuffleHandle[] handles;

  /**
   * @param lower the shuffles of the levels below, by their number
   */
  protected LevelRdd(
      SparkContext context,
      int level,
      List<ShuffleDependency<Object, Object, Object>> lower) {
    super(context, JavaConverters.asScalaBuffer(new ArrayList<Dependency<?>>(lower)).toSeq(), TAG);
    this.level = level;
    this.handles = new ShuffleHandle[lower.size()];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = lower.get(i).shuffleHandle();
    }
  }

  protected final int level() {
    return level;
  }

  /**
   * What the lower levels have written for a partition of this one.
   *
   * @param layout of the shuffles
   */
  protected final Iterator<Product2<Object, Object>> blocks(
      ShuffleLayout layout, int partition, TaskContext context) {
    List<Iterator<Product2<Object, Object>>> readers = new ArrayList<>();
    for (int lower = 0; lower < handles.length; lower++) {
      readers.add(blocks(lower, layout.first(lower, level) + partition, context));
    }
    return new ConcatenatedIterator<>(readers.iterator());
  }

  /** What the level {@code lower} has written for one reduce partition. */
  protected final Iterator<Product2<Object, Object>> blocks(
      int lower, int reducePartition, TaskContext context) {
    ShuffleReadMetricsReporter metrics = context.taskMetrics().createTempShuffleReadMetrics();
    ShuffleReader<Object, Object> reader =
        SparkEnv.get()
            .shuffleManager()
            .getReader(handles[lower], reducePartition, reducePartition + 1, context, metrics);
    return reader.read();
  }

  /** The id of the shuffle that the level {@code lower} has written. */
  protected final int shuffleId(int lower) {
    return handles[lower].shuffleId();
  }
}
