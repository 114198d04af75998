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

import java.util.Collections;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.collection.Iterator;
import scala.collection.JavaConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * The empty result stage behind the last level. With it every level is a shuffle map stage, which
 * Spark can roll back when an executor is lost; a result stage with finished tasks it cannot, and
 * would abort the epoch.
 */
public final class EndRdd extends RDD<Object> {
  private static final ClassTag<Object> TAG = ClassTag$.MODULE$.Object();

  public EndRdd(SparkContext context, ShuffleDependency<Object, Object, Object> lastLevel) {
    super(context, JavaConverters.asScalaBuffer(List.<Dependency<?>>of(lastLevel)).toSeq(), TAG);
  }

  @Override
  public Partition[] getPartitions() {
    return NumberedPartition.range(1);
  }

  @Override
  public Iterator<Object> compute(Partition split, TaskContext context) {
    return JavaConverters.asScalaIterator(Collections.emptyIterator());
  }
}
