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

import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.DeterministicLevel;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Level 0 in one epoch: a partition for every split of every source.
 *
 * <p>It is INDETERMINATE: how much a split reads in an epoch depends on the moment, so a task that
 * runs again outputs something else. Spark then runs again all that was made of a lost output and
 * never mixes two attempts.
 */
public final class SourceLevelRdd extends RDD<Tuple2<Object, Object>> {
  private static final ClassTag<Tuple2<Object, Object>> TAG = ClassTag$.MODULE$.apply(Tuple2.class);
  private static final ClassTag<InternalRow> ROW_TAG = ClassTag$.MODULE$.apply(InternalRow.class);

  private final EpochTasks tasks;

  /**
   * @param rows the scans of all sources, one behind the other
   */
  public SourceLevelRdd(RDD<InternalRow> rows, EpochTasks tasks) {
    super(rows, TAG);
    this.tasks = tasks;
  }

  @Override
  public Partition[] getPartitions() {
    return firstParent(ROW_TAG).partitions();
  }

  @Override
  public Iterator<Tuple2<Object, Object>> compute(Partition split, TaskContext context) {
    RDD<InternalRow> rows = firstParent(ROW_TAG);
    return tasks.sourceTask(split.index(), context, rows.iterator(split, context));
  }

  @Override
  public scala.Enumeration.Value getOutputDeterministicLevel() {
    return DeterministicLevel.INDETERMINATE();
  }
}
