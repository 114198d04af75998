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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.apache.beam.runners.core.SideInputReader;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.BlockOutput;
import org.apache.beam.runners.spark.structuredstreaming.translation.AssignWindowsStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.CombineStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.DeduplicateStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import org.apache.beam.runners.spark.structuredstreaming.translation.FlattenStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.KeyedParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.ParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.runners.spark.structuredstreaming.translation.RedistributeStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.SideInputParDoStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.StableInputStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.Step;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.values.PCollectionView;

/**
 * What follows the roots of a level, wired once: every collection has a receiver that runs the
 * fused steps behind it and ends in the outgoing edges. One task uses it at a time, epoch after
 * epoch, so that DoFns live on; it uses those roots that it runs.
 *
 * <p>Watermarks. Within a task {@code watermark(output) = min over inputs carried by this task of
 * watermark(input)}: a bundle ends with the epoch, before watermarks are sent, so a fused step holds
 * nothing back. Of several inputs of a Flatten those that other tasks carry are reported by those.
 */
public final class LevelGraph {
  /** Watermark of a collection that the task does not carry. */
  private static final long NOT_CARRIED = Long.MAX_VALUE;

  private final Level level;
  private final Plan plan;
  private final ShuffleLayout layout;
  private final PipelineOptions options;
  private final int parallelism;
  private final TaskMetrics metrics = new TaskMetrics();
  private final BlockOutput output;
  private final Map<PlanCollection, ElementReceiver> receivers = new HashMap<>();
  private final List<LiveDoFn> fusedDoFns = new ArrayList<>();
  private final Map<Step, LiveDoFn> doFnsOfRoots = new LinkedHashMap<>();
  private final List<EdgeSender> senders = new ArrayList<>();
  private final List<EdgeChannel> channels = new ArrayList<>();
  private final long[] watermarks;

  private LevelGraph(Plan plan, Level level, PipelineOptions options, int parallelism) {
    this.plan = plan;
    this.level = level;
    this.options = options;
    this.parallelism = parallelism;
    this.layout = new ShuffleLayout(plan, parallelism);
    this.output = new BlockOutput(layout.partitions(level.number()), plan.edges().size());
    this.watermarks = new long[plan.collections().size()];
  }

  /**
   * Wires {@code level}. No user code runs yet.
   *
   * @param parallelism partitions of every level but 0
   * @param taskIndex spreads what goes to any partition, so that tasks do not all start at the same
   */
  public static LevelGraph create(
      Plan plan, Level level, PipelineOptions options, int parallelism, int taskIndex) {
    LevelGraph graph = new LevelGraph(plan, level, options, parallelism);
    graph.wire(taskIndex);
    return graph;
  }

  /** Where elements of a root's output go. */
  public ElementReceiver receiver(PlanCollection collection) {
    return receivers.get(collection);
  }

  public BlockOutput output() {
    return output;
  }

  /** Partitions of every level but 0. */
  public int parallelism() {
    return parallelism;
  }

  public TaskMetrics metrics() {
    return metrics;
  }

  /** Starts an epoch on the calling thread. */
  public void startEpoch() {
    metrics.startEpoch();
    output.reset();
    Arrays.fill(watermarks, NOT_CARRIED);
    for (EdgeSender sender : senders) {
      sender.startEpoch();
    }
  }

  /**
   * Gives every fused DoFn that reads side inputs what it reads in this epoch.
   *
   * @param reader what a step reads of the views that it was given
   */
  public void bindSideInputs(
      BiFunction<String, Collection<PCollectionView<?>>, SideInputReader> reader) {
    for (LiveDoFn doFn : fusedDoFns) {
      Collection<PCollectionView<?>> views = doFn.spec().sideInputs().values();
      if (!views.isEmpty()) {
        doFn.context().bindSideInputs(reader.apply(doFn.fullName(), views));
      }
    }
  }

  /** Says what the watermark of a root's output is at the end of the epoch. */
  public void setWatermark(PlanCollection rootOutput, long watermarkMillis) {
    watermarks[rootOutput.index()] = watermarkMillis;
  }

  /** The DoFn of a root that has one, for the step's runner. */
  public LiveDoFn doFn(Step root) {
    return doFnsOfRoots.get(root);
  }

  /**
   * Ends the bundles of all fused steps, upstream first, so that what a finishing DoFn outputs is
   * still taken. Those of roots have ended before.
   */
  public void finishBundles() {
    for (LiveDoFn doFn : fusedDoFns) {
      doFn.finishBundle();
      doFn.takeOutputs();
    }
    for (EdgeSender sender : senders) {
      sender.finish();
    }
  }

  /** Sends the watermark of every edge that this task carries, and closes the output. */
  public void finishEpoch() {
    for (Step step : level.fused()) {
      long watermark = NOT_CARRIED;
      for (PlanCollection input : step.inputs()) {
        watermark = Math.min(watermark, watermarks[input.index()]);
      }
      for (PlanCollection stepOutput : step.outputs()) {
        watermarks[stepOutput.index()] = watermark;
      }
    }
    for (EdgeChannel channel : channels) {
      long watermark = watermarks[channel.edge().collection().index()];
      if (watermark != NOT_CARRIED && !layout.isWrittenOnce(channel.edge())) {
        channel.sendWatermark(watermark);
      }
    }
    output.closeAll();
  }

  /** Whether {@link #takeCallbacks} has any. */
  public boolean hasCallbacks() {
    return doFns().anyMatch(doFn -> doFn.context().hasCallbacks());
  }

  /** What DoFns have asked to be called back for since the last call. */
  public List<BundleCallback> takeCallbacks() {
    return doFns().flatMap(doFn -> doFn.context().takeCallbacks().stream()).toList();
  }

  private Stream<LiveDoFn> doFns() {
    return Stream.concat(doFnsOfRoots.values().stream(), fusedDoFns.stream());
  }

  /** Elements sent on each edge since the last call, by the edge's index. */
  public long[] takeSent() {
    long[] sent = new long[plan.edges().size()];
    for (EdgeSender sender : senders) {
      sent[sender.edgeIndex()] += sender.takeSent();
    }
    return sent;
  }

  /**
   * Tears every DoFn down; the graph is not used afterwards. All are torn down whatever fails.
   *
   * @return the first failure with the others suppressed, or null
   */
  public RuntimeException tearDown() {
    RuntimeException failure = null;
    for (LiveDoFn doFn : doFns().toList()) {
      try {
        doFn.tearDown();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    return failure;
  }

  /** Wires backwards: a step's receivers have to be there before the step. */
  private void wire(int taskIndex) {
    Map<PlanCollection, List<ElementReceiver>> consumers = new HashMap<>();
    for (Edge edge : level.outgoing()) {
      EdgeChannel channel = new EdgeChannel(edge, layout, parallelism, output);
      EdgeSender sender = sender(channel, taskIndex);
      channels.add(channel);
      senders.add(sender);
      consumers.computeIfAbsent(edge.collection(), c -> new ArrayList<>()).add(sender);
    }
    List<Step> fused = level.fused();
    for (int i = fused.size() - 1; i >= 0; i--) {
      wire(fused.get(i), consumers);
    }
    for (Step root : level.roots()) {
      for (PlanCollection rootOutput : root.outputs()) {
        receivers.put(rootOutput, receiverOf(rootOutput, consumers));
      }
      if (root instanceof KeyedParDoStep parDo) {
        List<ElementReceiver> outputs = root.outputs().stream().map(receivers::get).toList();
        doFnsOfRoots.put(
            root, new LiveDoFn(root.fullName(), parDo.spec(), options, metrics, outputs));
      }
    }
  }

  private void wire(Step step, Map<PlanCollection, List<ElementReceiver>> consumers) {
    List<ElementReceiver> outputs = new ArrayList<>();
    for (PlanCollection stepOutput : step.outputs()) {
      outputs.add(receiverOf(stepOutput, consumers));
    }
    ElementReceiver receiver;
    if (step instanceof ParDoStep parDo) {
      LiveDoFn doFn = new LiveDoFn(parDo.fullName(), parDo.spec(), options, metrics, outputs);
      fusedDoFns.add(0, doFn);
      receiver = doFn::processElement;
    } else if (step instanceof AssignWindowsStep assign) {
      receiver = new AssignWindowsRunner(assign, outputs.get(0));
    } else if (step instanceof FlattenStep) {
      receiver = outputs.get(0);
    } else {
      throw new IllegalStateException(step.fullName() + " is planned as fused but is a " + step.getClass());
    }
    for (PlanCollection input : step.inputs()) {
      consumers.computeIfAbsent(input, c -> new ArrayList<>()).add(0, receiver);
    }
  }

  private static ElementReceiver receiverOf(
      PlanCollection collection, Map<PlanCollection, List<ElementReceiver>> consumers) {
    return Receivers.all(consumers.getOrDefault(collection, List.of()));
  }

  private EdgeSender sender(EdgeChannel channel, int taskIndex) {
    Step target = channel.edge().target();
    if (target instanceof RedistributeStep redistribute) {
      return new RedistributeSender(channel, redistribute.byKey(), taskIndex);
    }
    if (target instanceof SideInputParDoStep) {
      return new RedistributeSender(channel, false, taskIndex);
    }
    if (target instanceof StableInputStep stable) {
      return new RedistributeSender(channel, stable.byKey(), taskIndex);
    }
    if (target instanceof DeduplicateStep) {
      return new RecordIdSender(channel);
    }
    if (target instanceof CombineStep combine && combine.lifted()) {
      return new LiftedCombineSender(channel, metrics);
    }
    if (target instanceof ViewStep) {
      return new ViewSender(channel);
    }
    if (target instanceof KeyedParDoStep) {
      return new KeyedElementSender(channel);
    }
    return new GroupingSender(channel);
  }
}
