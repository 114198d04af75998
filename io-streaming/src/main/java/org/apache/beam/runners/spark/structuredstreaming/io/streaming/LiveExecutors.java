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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.ExecutorCacheTaskLocation;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockManagerId;
import scala.Option;
import scala.collection.Iterator;

/** The executors that tasks may be placed on now, as the driver knows them. */
public final class LiveExecutors {
  private LiveExecutors() {}

  /**
   * The place of every executor, by host and then by id; none in local mode. One that is being released
   * is left out: Spark gives it no task any more, but may know its blocks for some seconds, in which
   * tasks would wait for it in vain. The text of a place is what an RDD's preferred locations and Spark's
   * coordinator of state stores name it by. Driver only.
   */
  public static List<ExecutorCacheTaskLocation> places() {
    BlockManager driver = SparkEnv.get().blockManager();
    List<BlockManagerId> peers = new ArrayList<>();
    Iterator<BlockManagerId> iterator =
        driver.master().getPeers(driver.blockManagerId()).iterator();
    while (iterator.hasNext()) {
      BlockManagerId peer = iterator.next();
      if (isActive(peer.executorId())) {
        peers.add(peer);
      }
    }
    Collections.sort(
        peers,
        Comparator.comparing(BlockManagerId::host).thenComparing(BlockManagerId::executorId));
    return peers.stream()
        .map(peer -> new ExecutorCacheTaskLocation(peer.host(), peer.executorId()))
        .toList();
  }

  private static boolean isActive(String executorId) {
    Option<SparkContext> context = SparkContext$.MODULE$.getActive();
    return context.isEmpty()
        || !(context.get().schedulerBackend() instanceof ExecutorAllocationClient client)
        || client.isExecutorActive(executorId);
  }
}
