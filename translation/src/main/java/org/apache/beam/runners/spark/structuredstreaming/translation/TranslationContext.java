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

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.beam.runners.spark.structuredstreaming.translation.UnsupportedPipelineException.Problem;
import org.apache.beam.sdk.coders.CannotProvideCoderException;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.Coder.NonDeterministicException;
import org.apache.beam.sdk.coders.CoderRegistry;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.runners.AppliedPTransform;
import org.apache.beam.sdk.transforms.CombineFnBase.GlobalCombineFn;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.DoFnSchemaInformation;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TupleTagList;
import org.apache.beam.sdk.values.WindowingStrategy;

/**
 * What a {@link TransformTranslator} works with, for the one transform it is translating: its
 * inputs and outputs as collections, the steps so far, and a place for what is wrong.
 */
final class TranslationContext {
  private final PlanBuilder builder;
  private final List<Problem> problems;
  private final AppliedPTransform<?, ?, ?> applied;
  private final Set<PCollectionView<?>> viewsReadBehind;

  /**
   * @param viewsReadBehind views that there have to be before what this transform begins with runs
   */
  TranslationContext(
      PlanBuilder builder,
      List<Problem> problems,
      AppliedPTransform<?, ?, ?> applied,
      Set<PCollectionView<?>> viewsReadBehind) {
    this.builder = builder;
    this.problems = problems;
    this.applied = applied;
    this.viewsReadBehind = viewsReadBehind;
  }

  String fullName() {
    return applied.getFullName();
  }

  int stepIndex() {
    return builder.nextStepIndex();
  }

  int sourceIndex() {
    return builder.nextSourceIndex();
  }

  CoderRegistry coderRegistry() {
    return applied.getPipeline().getCoderRegistry();
  }

  /** The PCollections the transform is applied to, side inputs left out. */
  List<PCollection<?>> mainInputs() {
    return List.copyOf(applied.getMainInputs().values());
  }

  PCollection<?> onlyMainInput() {
    return only(mainInputs(), "input");
  }

  PCollection<?> onlyOutput() {
    return only(List.copyOf(applied.getOutputs().values()), "output");
  }

  private PCollection<?> only(List<PCollection<?>> all, String role) {
    if (all.size() != 1) {
      throw new IllegalStateException(
          fullName() + " should have one " + role + ", but has " + all.size() + ": " + all);
    }
    return all.get(0);
  }

  /** The PCollections the transform produces, by tag. */
  Map<TupleTag<?>, PCollection<?>> outputs() {
    return applied.getOutputs();
  }

  PlanCollection input() {
    return builder.collection(onlyMainInput());
  }

  PlanCollection input(PCollection<?> pCollection) {
    return builder.collection(pCollection);
  }

  PlanCollection output() {
    return output(onlyOutput());
  }

  /** Makes the collection of an output, for the step that is added next. */
  PlanCollection output(PCollection<?> pCollection) {
    return builder.define(
        pCollection,
        new PlanCollection(
            builder.nextCollectionIndex(),
            pCollection.getName(),
            coderOrNull(pCollection),
            pCollection.getWindowingStrategy()));
  }

  /**
   * A DoFn as this transform applies it, with those of its outputs that the pipeline has.
   *
   * @param sideInputs the views it may read, by the name it asks for them with
   */
  DoFnSpec doFnSpec(
      DoFn<?, ?> doFn,
      DoFnSchemaInformation schemaInformation,
      PlanCollection input,
      TupleTag<?> mainOutputTag,
      TupleTagList additionalOutputTags,
      Map<String, PCollectionView<?>> sideInputs) {
    List<TupleTag<?>> tags = new ArrayList<>();
    tags.add(mainOutputTag);
    tags.addAll(additionalOutputTags.getAll());
    List<TupleTag<?>> presentTags = new ArrayList<>();
    List<PlanCollection> outputs = new ArrayList<>();
    for (TupleTag<?> tag : tags) {
      PCollection<?> pCollection = outputs().get(tag);
      if (pCollection != null) {
        presentTags.add(tag);
        outputs.add(output(pCollection));
      } else if (tag.equals(mainOutputTag)) {
        throw new IllegalStateException(fullName() + " has no main output " + tag);
      }
    }
    return new DoFnSpec(doFn, schemaInformation, input, presentTags, outputs, sideInputs);
  }

  /**
   * Makes a collection that one step of this transform produces for the next one.
   *
   * @param role what it is, in a few words; part of its name
   */
  PlanCollection between(String role, Coder<?> coder, WindowingStrategy<?, ?> windowing) {
    return builder.define(
        new PlanCollection(
            builder.nextCollectionIndex(), fullName() + " (" + role + ")", coder, windowing));
  }

  /**
   * The input as it comes out of a {@link StableInputStep} put before this transform.
   *
   * @param byKey whether elements of a key have to keep their order among each other
   * @return null if the input cannot be shuffled, which has been noted then
   */
  PlanCollection stableInput(PlanCollection input, boolean byKey) {
    boolean shufflable = byKey ? requireKeyed(input) : requireCoder(input);
    if (!shufflable) {
      return null;
    }
    PlanCollection stable = between("stable input", input.coder(), input.windowingStrategy());
    add(
        new StableInputStep(
            stepIndex(), fullName() + "/StableInput", levelBehind(input), byKey, input, stable));
    return stable;
  }

  private static Coder<?> coderOrNull(PCollection<?> pCollection) {
    try {
      return pCollection.getCoder();
    } catch (IllegalStateException e) {
      // Beam's way of saying that neither user nor inference gave a coder. That is an error only
      // where elements are encoded, and is reported there.
      return null;
    }
  }

  /** The level that a keyed step with this input stands on. */
  int levelBehind(PlanCollection input) {
    return Math.max(builder.levelBehind(input), firstLevel());
  }

  /** The level that this transform stands on if it has no input. */
  int firstLevel() {
    return levelBehind(viewsReadBehind);
  }

  private int levelBehind(Collection<PCollectionView<?>> views) {
    int level = 0;
    for (PCollectionView<?> view : views) {
      level = Math.max(level, builder.levelBehind(builder.views().panes(view)));
    }
    return level;
  }

  /** Whether a step that runs where {@code input} is has all of these views when it begins. */
  boolean isBehind(PlanCollection input, Collection<PCollectionView<?>> views) {
    return views.isEmpty()
        || (!builder.isStreaming() && builder.levels(input).first() >= levelBehind(views));
  }

  /** The level that a step with this input stands on if it reads these views. */
  int levelBehind(PlanCollection input, Collection<PCollectionView<?>> views) {
    return Math.max(levelBehind(input), levelBehind(views));
  }

  /** Says that this transform makes a view: its input are the view's panes. */
  void defineView(PCollectionView<?> view) {
    builder.views().define(fullName(), view, input());
  }

  /**
   * Sees to it that views are kept for a level. Called before the step that reads them is made, as it
   * may add steps.
   *
   * @param level that the views are read on; in a batch plan it does not matter
   */
  void keepViews(Collection<PCollectionView<?>> views, int level) {
    views.forEach(view -> builder.views().keep(view, level, builder));
  }

  void add(Step step) {
    builder.add(step);
  }

  /** Notes why this transform cannot be translated. No step has to be added for it then. */
  void refuse(String reason) {
    problems.add(new Problem(fullName(), reason));
  }

  /**
   * Whether the input can be shuffled by key: it has a coder, it is a coder of KVs, and that of the
   * keys is deterministic. Otherwise says why not.
   */
  boolean requireKeyed(PlanCollection input) {
    if (!requireCoder(input)) {
      return false;
    }
    if (!(input.coder() instanceof KvCoder<?, ?> kvCoder)) {
      refuse(
          "groups its input by key, but the elements of PCollection "
              + input
              + " are no KVs: their coder is "
              + input.coder()
              + ", it has to be a KvCoder");
      return false;
    }
    try {
      kvCoder.getKeyCoder().verifyDeterministic();
      return true;
    } catch (NonDeterministicException e) {
      refuse(
          "the keyCoder of a GroupByKey must be deterministic, that of PCollection "
              + input
              + " is not: "
              + e.getMessage());
      return false;
    }
  }

  /** Whether the input can be shuffled at all. Otherwise says why not. */
  boolean requireCoder(PlanCollection input) {
    if (!input.hasCoder()) {
      refuse(
          "shuffles PCollection "
              + input
              + ", which has no coder: call setCoder on it where it is made");
      return false;
    }
    return true;
  }

  /** The accumulator coder of a combine over values of this coder. Otherwise says why not. */
  Optional<Coder<?>> requireAccumulatorCoder(GlobalCombineFn<?, ?, ?> fn, Coder<?> valueCoder) {
    try {
      Coder<?> coder = accumulatorCoder(fn, valueCoder);
      if (coder != null) {
        return Optional.of(coder);
      }
      refuse(noAccumulatorCoder(fn) + "getAccumulatorCoder returned null");
    } catch (CannotProvideCoderException e) {
      refuse(noAccumulatorCoder(fn) + e.getMessage());
    }
    return Optional.empty();
  }

  private static String noAccumulatorCoder(GlobalCombineFn<?, ?, ?> fn) {
    return "no coder for the accumulators of "
        + fn.getClass().getName()
        + ": override its getAccumulatorCoder or register a coder for the accumulator's class; ";
  }

  @SuppressWarnings("unchecked") // Combine.PerKey has checked that fn takes the values of its input
  private <InputT, AccumT, OutputT> Coder<AccumT> accumulatorCoder(
      GlobalCombineFn<InputT, AccumT, OutputT> fn, Coder<?> valueCoder)
      throws CannotProvideCoderException {
    return fn.getAccumulatorCoder(coderRegistry(), (Coder<InputT>) valueCoder);
  }

  /**
   * Makes the outputs of a transform that was refused, on the levels of its inputs, so that what
   * follows is looked at too.
   */
  void defineRemainingOutputs() {
    NavigableSet<Integer> levels = new TreeSet<>();
    for (PCollection<?> input : mainInputs()) {
      levels.addAll(builder.levels(builder.collection(input)));
    }
    if (levels.isEmpty()) {
      levels.add(0);
    }
    for (PCollection<?> pCollection : applied.getOutputs().values()) {
      if (!builder.isDefined(pCollection)) {
        builder.carry(output(pCollection), levels);
      }
    }
  }
}
