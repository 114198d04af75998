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
package org.apache.beam.runners.spark.structuredstreaming.benchmarks;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/** The most of the heap that was in use before, and after, any garbage collection since the start. */
final class HeapWatch {
  private final Set<String> heapPools =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getType() == MemoryType.HEAP)
          .map(MemoryPoolMXBean::getName)
          .collect(Collectors.toSet());
  private final AtomicLong mostBefore = new AtomicLong();
  private final AtomicLong mostAfter = new AtomicLong();

  private HeapWatch() {}

  static HeapWatch start() {
    HeapWatch watch = new HeapWatch();
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      ((NotificationEmitter) collector)
          .addNotificationListener(
              (notification, handback) ->
                  watch.add(
                      GarbageCollectionNotificationInfo.from(
                          (CompositeData) notification.getUserData())),
              notification ->
                  notification
                      .getType()
                      .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION),
              null);
    }
    return watch;
  }

  private void add(GarbageCollectionNotificationInfo collection) {
    mostBefore.accumulateAndGet(used(collection.getGcInfo().getMemoryUsageBeforeGc()), Math::max);
    mostAfter.accumulateAndGet(used(collection.getGcInfo().getMemoryUsageAfterGc()), Math::max);
  }

  private long used(Map<String, MemoryUsage> pools) {
    return pools.entrySet().stream()
        .filter(pool -> heapPools.contains(pool.getKey()))
        .mapToLong(pool -> pool.getValue().getUsed())
        .sum();
  }

  /** Megabytes, garbage included. */
  long peakMegabytes() {
    long now = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    return Math.max(mostBefore.get(), now) >> 20;
  }

  /** Megabytes that a collection has left: what is alive, and old garbage. */
  long peakAfterCollectionMegabytes() {
    return mostAfter.get() >> 20;
  }
}
