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
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.BundleCallback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The callbacks that the bundles of one run have asked for in this JVM and that wait for their epoch
 * to be committed.
 *
 * <p>Rules: callbacks are of tasks that succeeded, and of a task that ran twice here of the later
 * attempt alone. They run once, in the order of epochs, when their epoch is known to be committed:
 * that is, when a task of a later one starts here, or the run is closed. One that has expired by then
 * is dropped, and so are those of epochs that were never committed. A callback that fails is logged:
 * the bundle is committed, and a finalizer is told at most once.
 *
 * <p>Any thread may call any method; callbacks run on the caller's thread, outside of the lock.
 */
final class BundleCallbacks {
  private static final Logger LOG = LoggerFactory.getLogger(BundleCallbacks.class);

  private final Map<Long, Map<Long, List<BundleCallback>>> byEpochAndTask = new TreeMap<>();

  /** Keeps the callbacks of a task that succeeded. */
  synchronized void add(TaskAddress task, List<BundleCallback> callbacks) {
    Map<Long, List<BundleCallback>> byTask = byEpochAndTask.get(task.epoch());
    long place = (long) task.level() << Integer.SIZE | task.partition();
    if (!callbacks.isEmpty()) {
      byEpochAndTask
          .computeIfAbsent(task.epoch(), epoch -> new TreeMap<>())
          .put(place, List.copyOf(callbacks));
    } else if (byTask != null) {
      byTask.remove(place);
    }
  }

  /**
   * Runs what waits for the epochs up to {@code epoch}, which are committed.
   *
   * @param nowMillis what callbacks expire by
   */
  void committed(long epoch, long nowMillis) {
    for (BundleCallback callback : take(epoch)) {
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

  private synchronized List<BundleCallback> take(long epoch) {
    List<BundleCallback> taken = new ArrayList<>();
    Iterator<Map.Entry<Long, Map<Long, List<BundleCallback>>>> epochs =
        byEpochAndTask.entrySet().iterator();
    while (epochs.hasNext()) {
      Map.Entry<Long, Map<Long, List<BundleCallback>>> next = epochs.next();
      if (next.getKey() <= epoch) {
        next.getValue().values().forEach(taken::addAll);
        epochs.remove();
      }
    }
    return taken;
  }
}
