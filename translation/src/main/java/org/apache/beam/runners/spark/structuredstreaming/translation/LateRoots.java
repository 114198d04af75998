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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.beam.sdk.runners.AppliedPTransform;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.reflect.DoFnSignature;
import org.apache.beam.sdk.transforms.reflect.DoFnSignatures;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;

/**
 * Which roots of a batch plan are better put off, and until when. A root is a transform that a level
 * begins with, as a read or a grouping.
 *
 * <pre>
 * viewsBehind(root) = the views read by ParDos that are fused behind the root, as far as they can be
 *                     made without the root
 * </pre>
 *
 * <p>If a root stands on a level above those that make these views, the ParDos find them complete and
 * nothing has to wait for them, nor to be shuffled to where it could wait. Two roots may each have a view
 * behind them that is made of the other: one of them is to be let go then, by {@link #giveUp}.
 */
final class LateRoots {
  /** Puts nothing off. */
  static final LateRoots NONE = new LateRoots(Map.of());

  // Of roots by their full names.
  private final Map<String, Set<PCollectionView<?>>> viewsBehind;

  private LateRoots(Map<String, Set<PCollectionView<?>>> viewsBehind) {
    this.viewsBehind = viewsBehind;
  }

  /** Looks at all transforms of a pipeline, in any order. */
  static LateRoots of(List<AppliedPTransform<?, ?, ?>> transforms) {
    Graph graph = new Graph(transforms);
    Map<String, Set<PCollectionView<?>>> viewsBehind = new HashMap<>();
    for (AppliedPTransform<?, ?, ?> transform : transforms) {
      if (!isFused(transform)) {
        Set<PCollectionView<?>> views = graph.viewsReadBehind(transform);
        views.removeIf(view -> graph.makersOf(view).contains(transform.getFullName()));
        if (!views.isEmpty()) {
          viewsBehind.put(transform.getFullName(), views);
        }
      }
    }
    return new LateRoots(viewsBehind);
  }

  /** The views that are read right behind a transform; empty unless it is a root that can wait. */
  Set<PCollectionView<?>> viewsBehind(AppliedPTransform<?, ?, ?> transform) {
    return viewsBehind.getOrDefault(transform.getFullName(), Set.of());
  }

  /** Lets a root go without the views that are read behind it. */
  void giveUp(AppliedPTransform<?, ?, ?> root) {
    viewsBehind.remove(root.getFullName());
  }

  private static boolean isFused(AppliedPTransform<?, ?, ?> transform) {
    if (transform.getTransform() instanceof ParDo.MultiOutput<?, ?> parDo) {
      DoFnSignature signature = DoFnSignatures.signatureForDoFn(parDo.getFn());
      return !DoFnFeatures.isKeyed(signature) && !signature.processElement().requiresStableInput();
    }
    return transform.getTransform() instanceof Flatten.PCollections<?>
        || transform.getTransform() instanceof Window.Assign<?>;
  }

  /** The pipeline's transforms by what they take and give. */
  private static final class Graph {
    private final Map<PCollection<?>, List<AppliedPTransform<?, ?, ?>>> consumers = new HashMap<>();
    private final Map<PCollection<?>, AppliedPTransform<?, ?, ?>> producers = new HashMap<>();
    private final Map<TupleTag<?>, AppliedPTransform<?, ?, ?>> panes = new HashMap<>();
    private final Map<TupleTag<?>, Set<String>> makers = new HashMap<>();

    Graph(List<AppliedPTransform<?, ?, ?>> transforms) {
      for (AppliedPTransform<?, ?, ?> transform : transforms) {
        transform.getOutputs().values().forEach(output -> producers.put(output, transform));
        for (PCollection<?> input : transform.getMainInputs().values()) {
          consumers.computeIfAbsent(input, key -> new ArrayList<>()).add(transform);
        }
        if (transform.getTransform() instanceof ViewPanes<?> ofView) {
          panes.put(ViewParts.tag(ofView.view()), transform);
        }
      }
    }

    /** The views of the ParDos that are fused behind {@code root}. */
    Set<PCollectionView<?>> viewsReadBehind(AppliedPTransform<?, ?, ?> root) {
      Set<PCollectionView<?>> views = new LinkedHashSet<>();
      Set<String> seen = new HashSet<>();
      Deque<AppliedPTransform<?, ?, ?>> next = new ArrayDeque<>(List.of(root));
      while (!next.isEmpty()) {
        for (PCollection<?> output : next.remove().getOutputs().values()) {
          for (AppliedPTransform<?, ?, ?> consumer : consumers.getOrDefault(output, List.of())) {
            if (isFused(consumer) && seen.add(consumer.getFullName())) {
              next.add(consumer);
              if (consumer.getTransform() instanceof ParDo.MultiOutput<?, ?> parDo) {
                views.addAll(parDo.getSideInputs().values());
              }
            }
          }
        }
      }
      return views;
    }

    /** Full names of all transforms that a view's elements may come from, through other views too. */
    Set<String> makersOf(PCollectionView<?> view) {
      Set<String> known = makers.get(ViewParts.tag(view));
      if (known != null) {
        return known;
      }
      Set<String> found = new HashSet<>();
      Deque<AppliedPTransform<?, ?, ?>> next = new ArrayDeque<>();
      addMaker(panes.get(ViewParts.tag(view)), found, next);
      while (!next.isEmpty()) {
        AppliedPTransform<?, ?, ?> maker = next.remove();
        for (PCollection<?> input : maker.getMainInputs().values()) {
          addMaker(producers.get(input), found, next);
        }
        for (TupleTag<?> tag : maker.getTransform().getAdditionalInputs().keySet()) {
          addMaker(panes.get(tag), found, next);
        }
      }
      makers.put(ViewParts.tag(view), found);
      return found;
    }

    /** Null is none: that nothing makes a view is found out, and said, when its reader is translated. */
    private static void addMaker(
        AppliedPTransform<?, ?, ?> maker,
        Set<String> found,
        Deque<AppliedPTransform<?, ?, ?>> next) {
      if (maker != null && found.add(maker.getFullName())) {
        next.add(maker);
      }
    }
  }
}
