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
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.BundleCallback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The callbacks that the bundles of one run have asked for in this JVM and that wait for their epoch
 * to be committed.
 *
 * <p>Rules: callbacks run once, in the order of epochs, when their epoch is known to be committed: that
 * is, when a task of a later one starts here, or the run is closed. Of the attempts at a task only the
 * one counts whose output was used, wherever it ran: the driver says which those are. Callbacks of
 * others are dropped, and so are those that have expired by then and those of epochs that were never
 * committed. A callback that fails is logged: the bundle is committed, and a finalizer is told at most
 * once.
 *
 * <p>Any thread may call any method; callbacks run on the caller's thread, outside of the lock.
 */
final class BundleCallbacks {
  private static final Logger LOG = LoggerFactory.getLogger(BundleCallbacks.class);

  private final Map<Long, List<Asked>> byEpoch = new TreeMap<>();

  /** What an attempt asked for. */
  private record Asked(int level, int partition, long attempt, List<BundleCallback> callbacks) {}

  /**
   * Keeps the callbacks of a task that succeeded.
   *
   * @param attempt Spark's task attempt id
   */
  synchronized void add(TaskAddress task, long attempt, List<BundleCallback> callbacks) {
    if (!callbacks.isEmpty()) {
      byEpoch
          .computeIfAbsent(task.epoch(), epoch -> new ArrayList<>())
          .add(new Asked(task.level(), task.partition(), attempt, List.copyOf(callbacks)));
    }
  }

  /**
   * Runs what waits for the epochs up to {@code epoch}, which are committed.
   *
   * @param usedAttempts attempts whose output was used, of the epochs that callbacks may wait for
   * @param nowMillis what callbacks expire by
   */
  void committed(long epoch, Set<Long> usedAttempts, long nowMillis) {
    for (BundleCallback callback : take(epoch, usedAttempts)) {
      if (callback.expiryMillis() <= nowMillis) {
        LOG.warn(
            "{}: a bundle finalizer expired before its bundle was committed and is not called",
            callback.stepFullName());
        continue;
      }
      try {
        callback.callback().onBundleSuccess();
      } catch (Exception e) {
        LOG.warn("{}: a bundle finalizer failed", callback.stepFullName(), e);
      }
    }
  }

  private synchronized List<BundleCallback> take(long epoch, Set<Long> usedAttempts) {
    List<BundleCallback> taken = new ArrayList<>();
    Iterator<Map.Entry<Long, List<Asked>>> epochs = byEpoch.entrySet().iterator();
    while (epochs.hasNext()) {
      Map.Entry<Long, List<Asked>> next = epochs.next();
      if (next.getKey() <= epoch) {
        next.getValue().stream()
            .filter(asked -> usedAttempts.contains(asked.attempt()))
            .sorted(Comparator.comparingInt(Asked::level).thenComparingInt(Asked::partition))
            .forEach(asked -> taken.addAll(asked.callbacks()));
        epochs.remove();
      }
    }
    return taken;
  }
}
