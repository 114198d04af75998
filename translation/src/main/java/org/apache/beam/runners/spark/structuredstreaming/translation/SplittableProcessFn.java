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
import java.util.Objects;
import org.apache.beam.runners.core.SplittableParDoViaKeyedWorkItems.ProcessFn;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.reflect.DoFnInvoker;
import org.apache.beam.sdk.transforms.reflect.DoFnInvoker.BaseArgumentProvider;
import org.apache.beam.sdk.transforms.reflect.DoFnInvokers;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.joda.time.Instant;

/**
 * Runners-core's {@link ProcessFn}, whose splittable DoFn gets all that Beam allows at the start and
 * the end of a bundle: a {@link DoFn.BundleFinalizer} too, and output when the bundle is finished.
 *
 * <p>{@link #setBundleFinalizer} is called behind the deserialization of the DoFn, before its first
 * bundle.
 */
public final class SplittableProcessFn<InputT, OutputT, RestrictionT, PositionT, StateT>
    extends ProcessFn<InputT, OutputT, RestrictionT, PositionT, StateT> {
  private transient BundleFinalizer bundleFinalizer;
  private transient DoFnInvoker<InputT, OutputT> bundles;

  SplittableProcessFn(
      DoFn<InputT, OutputT> fn,
      Coder<InputT> elementCoder,
      Coder<RestrictionT> restrictionCoder,
      Coder<StateT> watermarkEstimatorStateCoder,
      WindowingStrategy<InputT, ?> inputWindowingStrategy,
      Map<String, PCollectionView<?>> sideInputMapping) {
    super(
        fn,
        elementCoder,
        restrictionCoder,
        watermarkEstimatorStateCoder,
        inputWindowingStrategy,
        sideInputMapping);
  }

  /** What the start and the end of a bundle are given to ask for a call behind its commit. */
  public void setBundleFinalizer(BundleFinalizer finalizer) {
    bundleFinalizer = Objects.requireNonNull(finalizer, "finalizer");
  }

  @Override
  @StartBundle
  public void startBundle(StartBundleContext context) {
    bundles().invokeStartBundle(new StartArguments(context));
  }

  @Override
  @FinishBundle
  public void finishBundle(FinishBundleContext context) {
    bundles().invokeFinishBundle(new FinishArguments(context));
  }

  private DoFnInvoker<InputT, OutputT> bundles() {
    if (bundles == null) {
      bundles = DoFnInvokers.invokerFor(getFn());
    }
    return bundles;
  }

  private abstract class BundleArguments extends BaseArgumentProvider<InputT, OutputT> {
    private final PipelineOptions options;

    BundleArguments(PipelineOptions options) {
      this.options = options;
    }

    @Override
    public PipelineOptions pipelineOptions() {
      return options;
    }

    @Override
    public BundleFinalizer bundleFinalizer() {
      if (bundleFinalizer == null) {
        throw new IllegalStateException(
            "The bundle of " + getFn().getClass().getName() + " has no finalizer: it was not set.");
      }
      return bundleFinalizer;
    }
  }

  private final class StartArguments extends BundleArguments {
    private final StartBundleContext outer;

    StartArguments(StartBundleContext outer) {
      super(outer.getPipelineOptions());
      this.outer = outer;
    }

    @Override
    public DoFn<InputT, OutputT>.StartBundleContext startBundleContext(
        DoFn<InputT, OutputT> doFn) {
      return getFn().new StartBundleContext() {
        @Override
        public PipelineOptions getPipelineOptions() {
          return outer.getPipelineOptions();
        }
      };
    }

    @Override
    public String getErrorContext() {
      return "@StartBundle of a splittable DoFn";
    }
  }

  private final class FinishArguments extends BundleArguments {
    private final FinishBundleContext outer;

    FinishArguments(FinishBundleContext outer) {
      super(outer.getPipelineOptions());
      this.outer = outer;
    }

    @Override
    public DoFn<InputT, OutputT>.FinishBundleContext finishBundleContext(
        DoFn<InputT, OutputT> doFn) {
      return getFn().new FinishBundleContext() {
        @Override
        public PipelineOptions getPipelineOptions() {
          return outer.getPipelineOptions();
        }

        @Override
        public void output(OutputT output, Instant timestamp, BoundedWindow window) {
          outer.output(output, timestamp, window);
        }

        @Override
        public <T> void output(TupleTag<T> tag, T output, Instant timestamp, BoundedWindow window) {
          outer.output(tag, output, timestamp, window);
        }
      };
    }

    @Override
    public String getErrorContext() {
      return "@FinishBundle of a splittable DoFn";
    }
  }
}
