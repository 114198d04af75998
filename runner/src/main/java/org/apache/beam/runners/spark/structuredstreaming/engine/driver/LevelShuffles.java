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

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ShuffleLayout;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.BlockSerializer;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EndRdd;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.shuffle.ShuffleWriteProcessor;
import scala.Option;
import scala.Product2;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * The shuffles of one job: a map stage for each level and an empty result stage behind the last, so
 * that {@link #runAll} runs the whole plan as one job.
 */
final class LevelShuffles {
  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.Object();

  private final SparkContext context;
  private final ShuffleLayout layout;
  private final List<ShuffleDependency<Object, Object, Object>> shuffles = new ArrayList<>();
  private boolean jobMayGoOn;

  /**
   * @param parallelism partitions of every level that has a shuffle in front of it
   */
  LevelShuffles(SparkContext context, Plan plan, int parallelism) {
    this.context = context;
    this.layout = new ShuffleLayout(plan, parallelism);
  }

  /** The shuffles of the levels that were added, by their number. */
  List<ShuffleDependency<Object, Object, Object>> written() {
    return List.copyOf(shuffles);
  }

  /** Adds the next level. */
  @SuppressWarnings("unchecked") // a level's elements are pairs of partition and block
  void add(RDD<?> level) {
    shuffles.add(
        new ShuffleDependency<>(
            (RDD<Product2<Object, Object>>) level,
            new GivenPartitioner(layout.partitions(shuffles.size())),
            new BlockSerializer(),
            Option.empty(),
            Option.empty(),
            false,
            new ShuffleWriteProcessor(),
            OBJECT,
            OBJECT,
            OBJECT));
  }

  /** Runs all levels, which have been added; whatever fails comes as the exception Spark throws. */
  void runAll() {
    try {
      new EndRdd(context, shuffles.get(shuffles.size() - 1)).count();
    } catch (Exception e) {
      // Scala declares no exceptions, so the one meant cannot be named in the catch.
      jobMayGoOn = e instanceof InterruptedException;
      throw e;
    }
  }

  /**
   * Removes the files: they are of no use behind the job, and Spark would wait for a collection.
   *
   * <p>Where the wait for the job was interrupted, that collection is waited for: Spark's scheduler may
   * still be told of a task that has ended, and a shuffle that it does not find then ends the whole
   * application.
   */
  void remove() {
    if (!jobMayGoOn && context.cleaner().isDefined()) {
      for (ShuffleDependency<Object, Object, Object> shuffle : shuffles) {
        context.cleaner().get().doCleanupShuffle(shuffle.shuffleId(), false);
      }
    }
  }
}
