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

import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.DeterministicLevel;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.JavaConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Level 0 of a batch pipeline: a partition for every split of every source.
 *
 * <p>It is INDETERMINATE, as user code behind a source may be: Spark then runs again all that was made
 * of a lost output and never mixes two attempts.
 */
public final class ReadLevelRdd extends RDD<Tuple2<Object, Object>> {
  private static final ClassTag<Tuple2<Object, Object>> TAG = ClassTag$.MODULE$.apply(Tuple2.class);

  private final transient List<ReadPartition> splits;
  private final BatchTasks tasks;

  public ReadLevelRdd(SparkContext context, List<ReadPartition> splits, BatchTasks tasks) {
    super(context, JavaConverters.asScalaBuffer(List.<Dependency<?>>of()).toSeq(), TAG);
    this.splits = List.copyOf(splits);
    this.tasks = tasks;
  }

  @Override
  public Partition[] getPartitions() {
    return splits.toArray(new Partition[0]);
  }

  @Override
  public Iterator<Tuple2<Object, Object>> compute(Partition split, TaskContext context) {
    return tasks.readTask((ReadPartition) split, context);
  }

  @Override
  public scala.Enumeration.Value getOutputDeterministicLevel() {
    return DeterministicLevel.INDETERMINATE();
  }
}
