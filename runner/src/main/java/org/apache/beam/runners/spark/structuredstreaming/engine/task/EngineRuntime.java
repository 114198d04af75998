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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.LevelGraph;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ShuffleLayout;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.MaterializedViews;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStores;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamReaderCache;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an executor keeps alive of one run of a query, between its epochs: the decoded plan and, for
 * every level, the graphs with their DoFns that no task is using.
 *
 * <p>It also knows the state stores that tasks have opened, to unload them with the run: Spark does so
 * a minute later at best, and never when the JVM ends before, under a RocksDB that still works.
 *
 * <p>A graph is owned by one task from {@link #acquire} on, and comes back by {@link #release} after
 * success only: one that failed is torn down by its task. So {@code set-ups = tear-downs} once the
 * run is closed, whatever happened. A run that is not closed here (its driver died, or the executor was
 * not reached) is forgotten when no task has used it for the idle time-out.
 */
public final class EngineRuntime {
  private static final Logger LOG = LoggerFactory.getLogger(EngineRuntime.class);
  private static final Map<String, EngineRuntime> RUNTIMES = new ConcurrentHashMap<>();

  private static final ScheduledExecutorService SWEEPER =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "beam-dofn-sweeper");
            thread.setDaemon(true);
            return thread;
          });

  private final EngineSetup setup;
  private final Plan plan;
  private final PipelineOptions options;
  private final List<Deque<IdleGraph>> idle = new ArrayList<>();
  private final Set<StateStoreProviderId> stores = new HashSet<>();
  private final BundleCallbacks callbacks = new BundleCallbacks();
  private final MaterializedViews materializedViews = new MaterializedViews();
  private final ShuffleLayout layout;
  private final Map<Class<?>, Closeable> shared = new HashMap<>();
  private final AtomicLong begunEpoch = new AtomicLong(-1);
  private ScheduledFuture<?> sweep;
  private boolean closed;
  private boolean ended;
  private int inUse;
  private long usedNanos = System.nanoTime();

  /** A graph in no task's use, and since when. */
  private record IdleGraph(LevelGraph graph, long sinceNanos) {}

  private EngineRuntime(EngineSetup setup) {
    this.setup = setup;
    this.plan = setup.decodePlan();
    this.options = setup.options().get();
    this.layout = new ShuffleLayout(plan, setup.parallelism());
    for (int i = 0; i < plan.levels().size(); i++) {
      idle.add(new ArrayDeque<>());
    }
  }

  /** The runtime of a run in this JVM; made at its first use. */
  public static EngineRuntime of(EngineSetup setup) {
    return RUNTIMES.computeIfAbsent(
        setup.runKey(),
        key -> {
          EngineRuntime runtime = new EngineRuntime(setup);
          runtime.startSweeping();
          return runtime;
        });
  }

  /**
   * Ends a run in this JVM: tears down what is idle, and closes state stores unless a task still runs.
   * Tasks still running tear down their own, and the last of them closes the stores.
   *
   * @param runKey a run, known here or not
   * @param committedEpoch the last epoch that is committed, -1 if there is none or it is not known
   * @param usedAttempts the task attempts whose callbacks are to run, if their epoch is committed
   */
  public static void close(String runKey, long committedEpoch, Set<Long> usedAttempts) {
    EngineRuntime runtime = RUNTIMES.remove(runKey);
    if (runtime != null) {
      runtime.callbacks.committed(committedEpoch, usedAttempts, System.currentTimeMillis());
      runtime.closeGraphs();
    }
  }

  /**
   * A task of an epoch begins here, so the epoch before is committed.
   *
   * @param usedAttempts of the epochs before, the task attempts whose callbacks are to run
   */
  void epochBegun(long epoch, Set<Long> usedAttempts) {
    callbacks.committed(epoch - 1, usedAttempts, System.currentTimeMillis());
    if (begunEpoch.getAndAccumulate(epoch, Math::max) < epoch) {
      BeamReaderCache.epochBegun(setup.checkpointLocation(), epoch);
    }
  }

  /** What bundles here have asked to be called back for. */
  BundleCallbacks callbacks() {
    return callbacks;
  }

  /** What the run is filed under, unique for every start of a query. */
  String runKey() {
    return setup.runKey();
  }

  public Plan plan() {
    return plan;
  }

  public PipelineOptions options() {
    return options;
  }

  /** What all tasks here share of the views they have read. */
  public MaterializedViews materializedViews() {
    return materializedViews;
  }

  public ShuffleLayout layout() {
    return layout;
  }

  /** What all tasks here share of a kind; made when it is asked for first, closed with the run. */
  public synchronized <T extends Closeable> T shared(Class<T> kind, Supplier<T> make) {
    return kind.cast(shared.computeIfAbsent(kind, key -> make.get()));
  }

  /** A graph of the level for the calling task alone. */
  LevelGraph acquire(int level, int taskIndex) {
    synchronized (this) {
      inUse++;
      IdleGraph known = idle.get(level).pollLast();
      if (known != null) {
        return known.graph();
      }
    }
    return LevelGraph.create(
        plan, plan.levels().get(level), options, setup.parallelism(), taskIndex);
  }

  /** Remembers that a task opens a state store here. */
  synchronized void noteStore(StateStoreProviderId store) {
    stores.add(store);
  }

  /** Takes a graph back after its task's success. */
  void release(int level, LevelGraph graph) {
    List<StateStoreProviderId> unused;
    synchronized (this) {
      unused = noteUse();
      if (!closed) {
        idle.get(level).addLast(new IdleGraph(graph, System.nanoTime()));
        return;
      }
    }
    tearDown(graph);
    unload(unused);
  }

  /** Tears down a graph whose task did not succeed. */
  void discard(LevelGraph graph) {
    List<StateStoreProviderId> unused;
    synchronized (this) {
      unused = noteUse();
    }
    tearDown(graph);
    unload(unused);
  }

  /** A task has ended; returns the stores that nobody uses any more. */
  private List<StateStoreProviderId> noteUse() {
    inUse--;
    usedNanos = System.nanoTime();
    return takeUnusedStores();
  }

  /** All stores, to be closed, if the run has ended and no task of it is left here. */
  private synchronized List<StateStoreProviderId> takeUnusedStores() {
    if (!ended || inUse > 0) {
      return List.of();
    }
    List<StateStoreProviderId> unused = List.copyOf(stores);
    stores.clear();
    return unused;
  }

  /** Tears down the DoFns of a graph; failures of theirs are logged, as nobody is left to fail. */
  private static void tearDown(LevelGraph graph) {
    RuntimeException failure = graph.tearDown();
    if (failure != null) {
      LOG.warn("A DoFn failed in its tear-down", failure);
    }
  }

  /** The thread of a task that was killed may still be interrupted, which closing stores is not to be. */
  private static void unload(List<StateStoreProviderId> unused) {
    boolean interrupted = Thread.interrupted();
    unused.forEach(StateStores::unload);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void startSweeping() {
    long interval = Math.max(1, setup.idleTimeoutMillis() / 4);
    sweep =
        SWEEPER.scheduleWithFixedDelay(
            this::sweepIdle, interval, interval, TimeUnit.MILLISECONDS);
  }

  private void sweepIdle() {
    List<LevelGraph> expired = new ArrayList<>();
    long now = System.nanoTime();
    long timeout = TimeUnit.MILLISECONDS.toNanos(setup.idleTimeoutMillis());
    synchronized (this) {
      if (inUse == 0 && now - usedNanos > timeout) {
        RUNTIMES.remove(setup.runKey(), this);
        sweep.cancel(false);
        // A task that has just found it here tears down what it used.
        closed = true;
        closeShared();
      }
      for (Deque<IdleGraph> graphs : idle) {
        for (Iterator<IdleGraph> each = graphs.iterator(); each.hasNext(); ) {
          IdleGraph graph = each.next();
          if (now - graph.sinceNanos() > timeout) {
            expired.add(graph.graph());
            each.remove();
          }
        }
      }
    }
    expired.forEach(EngineRuntime::tearDown);
  }

  private void closeGraphs() {
    List<LevelGraph> graphs = new ArrayList<>();
    List<StateStoreProviderId> unused;
    synchronized (this) {
      ended = true;
      unused = takeUnusedStores();
      closed = true;
      closeShared();
      sweep.cancel(false);
      for (Deque<IdleGraph> level : idle) {
        level.forEach(graph -> graphs.add(graph.graph()));
        level.clear();
      }
    }
    graphs.forEach(EngineRuntime::tearDown);
    unload(unused);
  }

  private void closeShared() {
    for (Closeable each : shared.values()) {
      try {
        each.close();
      } catch (IOException e) {
        LOG.warn("What the tasks of {} have shared cannot be let go of", setup.runKey(), e);
      }
    }
    shared.clear();
  }
}
