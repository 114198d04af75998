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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import scala.collection.JavaConverters;

/**
 * Writes down in the driver which jobs start and which copies of tasks win, and passes the point {@code
 * task end epoch=<e> level=<l>} behind every task that succeeds.
 */
public final class FaultListener extends SparkListener {
  private final Map<Integer, String> stages = new ConcurrentHashMap<>();

  /** Called by Spark, by reflection. */
  public FaultListener() {}

  @Override
  public void onJobStart(SparkListenerJobStart job) {
    String epoch = job.properties().getProperty(FaultPoints.EPOCH_PROPERTY);
    if (epoch == null) {
      return;
    }
    FaultPoints.events().add(EventLog.JOB, epoch);
    List<Integer> ids = new ArrayList<>();
    JavaConverters.seqAsJavaList(job.stageIds()).forEach(id -> ids.add(((Number) id).intValue()));
    Collections.sort(ids);
    for (int level = 0; level < ids.size(); level++) {
      stages.put(ids.get(level), "epoch=" + epoch + " level=" + level);
    }
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd task) {
    String stage = stages.get(task.stageId());
    if (stage != null && task.taskInfo().successful()) {
      if (task.taskInfo().speculative()) {
        FaultPoints.events().add(EventLog.COPY, stage);
      }
      try {
        FaultPoints.pass("task end " + stage);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
