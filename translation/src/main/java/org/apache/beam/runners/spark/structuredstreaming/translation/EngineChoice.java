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

import java.util.Objects;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.options.StreamingOptions;
import org.apache.beam.sdk.runners.TransformHierarchy.Node;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.reflect.DoFnSignature;
import org.apache.beam.sdk.transforms.reflect.DoFnSignature.Parameter;
import org.apache.beam.sdk.transforms.reflect.DoFnSignatures;
import org.apache.beam.sdk.transforms.windowing.AfterProcessingTime;
import org.apache.beam.sdk.transforms.windowing.AfterSynchronizedProcessingTime;
import org.apache.beam.sdk.transforms.windowing.Trigger;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollection.IsBounded;
import org.apache.beam.sdk.values.PValue;

/**
 * Which engine runs a pipeline. It is run as batch unless
 *
 * <ol>
 *   <li>{@code --streaming=true} is given, or
 *   <li>it has an unbounded collection, or
 *   <li>it has a TestStream, or
 *   <li>it has a splittable DoFn, one of whose methods asks for a {@code BundleFinalizer}: between the
 *       bundles of one element it wants to hear of commits, and a batch is committed as a whole, or
 *   <li>it has a collection with a trigger by processing time: that asks for panes while time passes,
 *       and in a batch none does.
 * </ol>
 *
 * @param streaming whether the streaming engine runs it
 * @param reason why, for the log
 */
public record EngineChoice(boolean streaming, String reason) {
  /**
   * Decides; called on the driver with the pipeline as the user has built it, before it is translated.
   *
   * @param options the options that the pipeline is run with
   */
  public static EngineChoice of(Pipeline pipeline, StreamingOptions options) {
    Objects.requireNonNull(pipeline, "pipeline");
    if (options.isStreaming()) {
      return new EngineChoice(true, "--streaming=true");
    }
    Visitor visitor = new Visitor();
    pipeline.traverseTopologically(visitor);
    return visitor.reason == null
        ? new EngineChoice(false, "all its collections are bounded")
        : new EngineChoice(true, visitor.reason);
  }

  private static final class Visitor extends Pipeline.PipelineVisitor.Defaults {
    private String reason;

    @Override
    public CompositeBehavior enterCompositeTransform(Node node) {
      visit(node);
      return CompositeBehavior.ENTER_TRANSFORM;
    }

    @Override
    public void visitPrimitiveTransform(Node node) {
      visit(node);
    }

    private void visit(Node node) {
      if (node.getTransform() instanceof TestStream<?>) {
        because(node.getFullName() + " is a TestStream");
      }
      if (node.getTransform() instanceof ParDo.MultiOutput<?, ?> parDo
          && hearsOfCommitsBetweenBundles(parDo.getFn())) {
        because(node.getFullName() + " is splittable and has a BundleFinalizer");
      }
    }

    @Override
    public void visitValue(PValue value, Node producer) {
      if (!(value instanceof PCollection<?> collection)) {
        return;
      }
      if (collection.isBounded() == IsBounded.UNBOUNDED) {
        because(producer.getFullName() + " has an unbounded output");
      }
      Trigger trigger = collection.getWindowingStrategy().getTrigger();
      if (isByProcessingTime(trigger)) {
        because(producer.getFullName() + " has the trigger " + trigger + ", by processing time");
      }
    }

    private static boolean hearsOfCommitsBetweenBundles(DoFn<?, ?> doFn) {
      DoFnSignature signature = DoFnSignatures.signatureForDoFn(doFn);
      return signature.processElement().isSplittable()
          && (hasFinalizer(signature.processElement())
              || hasFinalizer(signature.startBundle())
              || hasFinalizer(signature.finishBundle()));
    }

    /** Null, of which there is no method, has none. */
    private static boolean hasFinalizer(DoFnSignature.MethodWithExtraParameters method) {
      return method != null
          && method.extraParameters().stream()
              .anyMatch(Parameter.BundleFinalizerParameter.class::isInstance);
    }

    private void because(String found) {
      if (reason == null) {
        reason = found;
      }
    }

    private static boolean isByProcessingTime(Trigger trigger) {
      return trigger instanceof AfterProcessingTime
          || trigger instanceof AfterSynchronizedProcessingTime
          || trigger.subTriggers().stream().anyMatch(Visitor::isByProcessingTime);
    }
  }
}
