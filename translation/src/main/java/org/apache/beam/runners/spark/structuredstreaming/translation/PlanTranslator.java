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
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.beam.runners.spark.structuredstreaming.translation.UnsupportedPipelineException.Problem;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.runners.AppliedPTransform;
import org.apache.beam.sdk.runners.PTransformOverride;
import org.apache.beam.sdk.runners.TransformHierarchy.Node;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.util.construction.PTransformMatchers;
import org.apache.beam.sdk.util.construction.PTransformTranslation;
import org.apache.beam.sdk.util.construction.SplittableParDo;
import org.apache.beam.sdk.values.TupleTag;

/**
 * Translates a pipeline into the plan that an engine runs.
 *
 * <p>Beam visits transforms behind the producers of their inputs, but of a view only behind the
 * producer of the collection that the view is made of, perhaps before the view's own transform. So
 * transforms are gathered first and translated then, each behind the producers of its inputs and
 * views, otherwise as they were visited.
 */
public final class PlanTranslator extends Pipeline.PipelineVisitor.Defaults {
  private final PlanBuilder builder;
  private final List<Problem> problems = new ArrayList<>();
  private final TransformTranslators translators;
  private final List<Visited> visited = new ArrayList<>();

  private LateRoots lateRoots = LateRoots.NONE;

  /** A transform that is translated as it stands. */
  private record Visited(
      TransformTranslator<PTransform<?, ?>> translator, AppliedPTransform<?, ?, ?> applied) {}

  private PlanTranslator(TransformTranslators translators, boolean streaming) {
    this.translators = translators;
    this.builder = new PlanBuilder(streaming);
  }

  /**
   * Translates {@code pipeline}. Called on the driver, before anything is started. The pipeline is
   * rewritten in place: some of its transforms are replaced by equivalent ones, under the same
   * names. Translating it again gives the same plan.
   *
   * @param options the options that the pipeline is run with
   * @param streaming whether the streaming engine is to run it: {@link EngineChoice}
   * @throws UnsupportedPipelineException with all that is wrong with or not supported of the
   *     pipeline
   */
  public static Plan translate(Pipeline pipeline, PipelineOptions options, boolean streaming) {
    Objects.requireNonNull(pipeline, "pipeline");
    Objects.requireNonNull(options, "options");
    // The replacement of a global Combine contains no Read; were that to change, it has to come
    // before the reads are replaced. It does away with a view, so it comes before the views; of
    // those that hold others go first.
    pipeline.replaceAll(
        List.of(
            GlobalCombineOverride.OVERRIDE,
            SingletonViewOverride.OVERRIDE,
            CombinedViewOverride.OVERRIDE,
            ViewOverride.OVERRIDE,
            KafkaReads.OVERRIDE));
    SplittableParDo.convertReadBasedSplittableDoFnsToPrimitiveReads(pipeline);
    // Behind the reads: their own expansions are splittable DoFns.
    pipeline.replaceAll(
        List.of(
            PTransformOverride.of(
                PTransformMatchers.splittableParDo(), new SplittableParDo.OverrideFactory<>())));
    boolean encrypted = encrypts(pipeline.getOptions()) || encrypts(options);
    PlanTranslator translator = new PlanTranslator(new TransformTranslators(encrypted), streaming);
    pipeline.traverseTopologically(translator);
    if (!streaming) {
      translator.lateRoots =
          LateRoots.of(
              translator.visited.stream()
                  .<AppliedPTransform<?, ?, ?>>map(Visited::applied)
                  .toList());
    }
    translator.translateVisited();
    if (!translator.problems.isEmpty()) {
      throw new UnsupportedPipelineException(translator.problems);
    }
    return translator.builder.build();
  }

  private static boolean encrypts(PipelineOptions options) {
    String encryption = options.getGbek();
    return encryption != null && !encryption.isBlank();
  }

  @Override
  public CompositeBehavior enterCompositeTransform(Node node) {
    if (node.isRootNode()) {
      return CompositeBehavior.ENTER_TRANSFORM;
    }
    Optional<TransformTranslator<PTransform<?, ?>>> translator =
        translators.claiming(node.getTransform());
    if (translator.isEmpty()) {
      return CompositeBehavior.ENTER_TRANSFORM;
    }
    visited.add(new Visited(translator.get(), node.toAppliedPTransform(getPipeline())));
    return CompositeBehavior.DO_NOT_ENTER_TRANSFORM;
  }

  @Override
  public void visitPrimitiveTransform(Node node) {
    PTransform<?, ?> transform = node.getTransform();
    String urn = PTransformTranslation.urnForTransformOrNull(transform);
    if (urn == null && node.getOutputs().isEmpty()) {
      // A composite that has put nothing into the pipeline looks like this: there is nothing to do.
      return;
    }
    String kind = urn == null ? transform.getClass().getName() : urn;
    visited.add(
        new Visited(
            translators
                .claiming(transform)
                .orElse((ignored, context) -> context.refuse("unknown transform " + kind)),
            node.toAppliedPTransform(getPipeline())));
  }

  /** As many passes as there are transforms visited before a view of theirs, one after the other. */
  private void translateVisited() {
    List<Visited> waiting = new ArrayList<>(visited);
    while (!waiting.isEmpty()) {
      int before = waiting.size();
      waiting.removeIf(
          next -> {
            boolean ready = isReady(next.applied());
            if (ready) {
              translate(next.translator(), next.applied());
            }
            return ready;
          });
      if (waiting.size() == before && !giveUpDelay(waiting)) {
        refuseStuck(waiting);
        return;
      }
    }
  }

  private boolean isReady(AppliedPTransform<?, ?, ?> applied) {
    return hasInputs(applied)
        && lateRoots.viewsBehind(applied).stream()
            .allMatch(view -> builder.views().isDefined(ViewParts.tag(view)));
  }

  private boolean hasInputs(AppliedPTransform<?, ?, ?> applied) {
    return applied.getMainInputs().values().stream().allMatch(builder::isDefined)
        && applied.getTransform().getAdditionalInputs().keySet().stream()
            .allMatch(builder.views()::isDefined);
  }

  /**
   * Lets the first transform that only waits for views that are read behind it go on without them.
   *
   * @return false if there is none
   */
  private boolean giveUpDelay(List<Visited> waiting) {
    for (Visited next : waiting) {
      if (hasInputs(next.applied())) {
        lateRoots.giveUp(next.applied());
        return true;
      }
    }
    return false;
  }

  /** What is left waits for a view that no transform of the pipeline makes, or is behind such. */
  private void refuseStuck(List<Visited> waiting) {
    for (Visited stuck : waiting) {
      String name = stuck.applied().getFullName();
      for (TupleTag<?> tag : stuck.applied().getTransform().getAdditionalInputs().keySet()) {
        if (!builder.views().isDefined(tag)) {
          problems.add(
              new Problem(
                  name,
                  "reads the side input "
                      + tag.getId()
                      + ", a view that no transform of this pipeline makes"));
        }
      }
    }
    if (problems.isEmpty()) {
      throw new IllegalStateException(
          "Transforms whose inputs nothing produces: "
              + waiting.stream().map(each -> each.applied().getFullName()).toList());
    }
  }

  private void translate(
      TransformTranslator<PTransform<?, ?>> translator, AppliedPTransform<?, ?, ?> applied) {
    TranslationContext context =
        new TranslationContext(builder, problems, applied, lateRoots.viewsBehind(applied));
    int problemsBefore = problems.size();
    translator.translate(applied.getTransform(), context);
    if (problems.size() > problemsBefore) {
      context.defineRemainingOutputs();
    }
  }
}
