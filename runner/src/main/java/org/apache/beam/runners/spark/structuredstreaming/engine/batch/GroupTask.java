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

import java.io.IOException;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.KeyedStepRunners;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.SideInputs;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepStatistics;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.Work;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.Block;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EngineRuntime;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.LevelTask;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.ReportAccumulator;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.SourceReport;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.TaskAddress;
import org.apache.beam.runners.spark.structuredstreaming.translation.CombineStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.runners.spark.structuredstreaming.translation.RedistributeStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.StableInputStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Step;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.spark.TaskContext;
import scala.Product2;
import scala.collection.Iterator;

/**
 * A task of a level behind a shuffle in a batch pipeline: one partition of all its keyed steps, and
 * what is fused behind them.
 *
 * <p>All records are received: those of steps that pass elements on go to their step, the others are
 * sorted by group. Then group after group is worked on. What watermarks senders say does not matter:
 * they are at the end of time when the records end. Views are there when it begins.
 */
final class GroupTask extends LevelTask {
  private static final int PIECES_PER_CALL = 64;

  private final TaskContext context;
  private final Iterator<Product2<Object, Object>> blocks;
  private final Level level;
  private final RecordInput record;
  // Null for a root that is no keyed step of this task: a source or a view.
  private final RootWork[] works;
  private final RootWork[] workOfEdge;
  // What user code of a root counts in.
  private final MetricsContainer[] containers;
  private final SideInputs sideInputs;
  private final ViewBlocks views;
  private GroupSorter sorter;
  private SortedGroups groups;
  private Work current = Work.NONE;

  GroupTask(
      TaskAddress address,
      EngineRuntime runtime,
      TaskContext context,
      ReportAccumulator reports,
      Iterator<Product2<Object, Object>> blocks,
      ViewBlocks views) {
    super(address, runtime, context, reports);
    this.context = context;
    this.blocks = blocks;
    this.views = views;
    this.level = runtime.plan().levels().get(address.level());
    int edges = runtime.plan().edges().size();
    this.record = new RecordInput(edges);
    this.sideInputs = new SideInputs(runtime.materializedViews());
    this.works = new RootWork[level.roots().size()];
    this.workOfEdge = new RootWork[edges];
    this.containers = new MetricsContainer[works.length];
  }

  @Override
  protected boolean work() throws IOException {
    if (sorter == null) {
      open();
    }
    if (groups == null) {
      if (!receiveBlock()) {
        groups = sorter.sorted();
      }
      return true;
    }
    if (workOnGroups()) {
      return true;
    }
    finish();
    return false;
  }

  @Override
  protected void release(boolean succeeded) {
    // Spark frees the memory and the files of the sorter with the task.
  }

  @Override
  protected SourceReport sourceReport() {
    return null;
  }

  @Override
  protected List<StepStatistics> stepStatistics() {
    return List.of();
  }

  private void open() {
    sorter = new GroupSorter(context);
    TaskViews ofTask = new TaskViews(runtime(), level, views);
    ofTask.bind(graph());
    ofTask.addTo(sideInputs);
    List<Step> roots = level.roots();
    for (int root = 0; root < roots.size(); root++) {
      if (!(roots.get(root) instanceof KeyedStep step) || step instanceof ViewStep) {
        continue;
      }
      works[root] = work(step, root);
      containers[root] = graph().metrics().container(step.fullName());
      for (Edge edge : level.incoming()) {
        if (edge.target().index() == step.index()) {
          workOfEdge[edge.index()] = works[root];
        }
      }
    }
  }

  private RootWork work(KeyedStep step, int root) {
    // What comes out of the shuffle is there before the consumer of a stable input sees it.
    if (step instanceof RedistributeStep || step instanceof StableInputStep) {
      return new DirectWork(KeyedStepRunners.passingOn(step, graph()), graph().metrics());
    }
    if (KeyedStepRunners.givesOnePane(step)) {
      return step instanceof CombineStep combine
          ? new CombineWork(
              combine, root, sorter, graph().receiver(step.output()), graph().metrics())
          : new GroupWork(step, root, sorter, graph().receiver(step.output()), graph().metrics());
    }
    return new SortedWork(
        step,
        root,
        sorter,
        graph(),
        runtime().options(),
        sideInputs,
        runtime().plan().edges().size());
  }

  private boolean receiveBlock() throws IOException {
    if (!blocks.hasNext()) {
      return false;
    }
    record.reset((Block) blocks.next()._2());
    MetricsContainer outer = graph().metrics().activate(null);
    try {
      while (record.next()) {
        if (record.isControl()) {
          record.bytes().readLong();
        } else {
          receive(record.edge());
        }
      }
    } finally {
      graph().metrics().activate(outer);
    }
    return true;
  }

  private void receive(int edge) {
    try {
      workOfEdge[edge].receive(record);
    } catch (IOException | RuntimeException | LinkageError | StackOverflowError e) {
      throw StepFailedException.of(nameOfEdge(edge), "reading an element out of the shuffle", e);
    }
  }

  private boolean workOnGroups() throws IOException {
    MetricsContainer outer = graph().metrics().activate(containers[groups.root()]);
    try {
      for (int piece = 0; piece < PIECES_PER_CALL; piece++) {
        while (!current.advance()) {
          if (!groups.nextGroup()) {
            return false;
          }
          graph().metrics().activate(containers[groups.root()]);
          current = works[groups.root()].group(groups);
        }
      }
      return true;
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      throw StepFailedException.of(
          level.roots().get(groups.root()).fullName(), "working on a key", e);
    } finally {
      graph().metrics().activate(outer);
    }
  }

  private String nameOfEdge(int edge) {
    return runtime().plan().edges().get(edge).target().fullName();
  }

  private void finish() throws IOException {
    for (RootWork work : works) {
      if (work != null) {
        work.finish();
      }
    }
    graph().finishBundles();
    for (Step root : level.roots()) {
      for (PlanCollection output : root.outputs()) {
        graph().setWatermark(output, BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis());
      }
    }
    graph().finishEpoch();
  }
}
