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

import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.beam.sdk.Pipeline.PipelineVisitor;
import org.apache.beam.sdk.runners.AppliedPTransform;
import org.apache.beam.sdk.runners.PTransformOverrideFactory;
import org.apache.beam.sdk.runners.TransformHierarchy.Node;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.View.CreatePCollectionView;
import org.apache.beam.sdk.util.construction.PTransformReplacements;
import org.apache.beam.sdk.util.construction.ReplacementOutputs;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.PCollectionViews;
import org.apache.beam.sdk.values.TupleTag;

/**
 * Replaces a composite that makes a view by one that makes the same view in another way. Those who
 * read it know it by its tag, so what is made is the very view that there was.
 */
abstract class ReplacedView<
        InputT, ViewT, TransformT extends PTransform<PCollection<InputT>, PCollectionView<ViewT>>>
    implements PTransformOverrideFactory<PCollection<InputT>, PCollectionView<ViewT>, TransformT> {

  /** What makes {@code view} in place of {@code original}, and gives {@link #output}. */
  abstract PTransform<PCollection<InputT>, PCollectionView<ViewT>> replacement(
      TransformT original, PCollectionView<ViewT> view);

  @Override
  public final PTransformReplacement<PCollection<InputT>, PCollectionView<ViewT>>
      getReplacementTransform(
          AppliedPTransform<PCollection<InputT>, PCollectionView<ViewT>, TransformT> application) {
    return PTransformReplacement.of(
        PTransformReplacements.getSingletonMainInput(application),
        replacement(application.getTransform(), viewOf(application)));
  }

  @Override
  public final Map<PCollection<?>, ReplacementOutput> mapOutputs(
      Map<TupleTag<?>, PCollection<?>> outputs, PCollectionView<ViewT> newOutput) {
    return ReplacementOutputs.singleton(outputs, newOutput);
  }

  /**
   * What a replacement returns: a view that nobody reads, only to tell Beam which collection comes in
   * the place of the one that the view was made of.
   */
  @SuppressWarnings("unchecked") // nobody reads it
  static <ElemT, ViewT> PCollectionView<ViewT> output(PCollection<ElemT> panes) {
    return (PCollectionView<ViewT>)
        PCollectionViews.iterableView(
            panes,
            panes.getCoder()::getEncodedTypeDescriptor,
            panes.getWindowingStrategy());
  }

  /** The view whose tag the transform's output has: that of the primitive within. */
  private PCollectionView<ViewT> viewOf(
      AppliedPTransform<PCollection<InputT>, PCollectionView<ViewT>, TransformT> application) {
    TupleTag<?> tag = application.getOutputs().keySet().iterator().next();
    AtomicReference<PCollectionView<ViewT>> found = new AtomicReference<>();
    application
        .getPipeline()
        .traverseTopologically(
            new PipelineVisitor.Defaults() {
              @Override
              @SuppressWarnings({"unchecked", "deprecation"}) // a view of this tag has this type
              public void visitPrimitiveTransform(Node node) {
                if (node.getTransform() instanceof CreatePCollectionView<?, ?> creation
                    && ViewParts.tag(creation.getView()).equals(tag)) {
                  found.set((PCollectionView<ViewT>) creation.getView());
                }
              }
            });
    if (found.get() == null) {
      throw new IllegalStateException(
          application.getFullName() + " gives the view " + tag + ", but makes none of that tag");
    }
    return found.get();
  }
}
