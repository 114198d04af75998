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

import org.apache.beam.sdk.coders.BooleanCoder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.VoidCoder;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.CombineFnBase.GlobalCombineFn;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.Impulse;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.AfterWatermark;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.TimestampCombiner;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.beam.sdk.values.WindowingStrategy;

/**
 * {@code Combine.globally} in the global window that gives the default value for no input, without
 * a side input. Beam's own expansion finds out by a side input that nothing was combined; here a
 * second grouping beside the combine, on the same level, does:
 *
 * <ul>
 *   <li>an impulse puts a {@code false} into it at {@code TIMESTAMP_MIN_VALUE};
 *   <li>the first input element of each bundle puts a {@code true} into it at the end of the window;
 *   <li>a pane fires at every second element and at the end of the window. The only pane with the
 *       {@code false} and no {@code true} is that of an empty input, at the end of the window: it
 *       becomes the default value, in a pane of its own and at {@code TIMESTAMP_MIN_VALUE}, as Beam
 *       gives it.
 * </ul>
 *
 * <p>The {@code false} holds the output watermark until it is certain that there will be no default
 * value: {@code out = TIMESTAMP_MIN_VALUE} until the first element has come or the window has ended.
 * A {@code true} holds nothing.
 */
final class CombineGloballyWithDefault<InputT, OutputT>
    extends PTransform<PCollection<InputT>, PCollection<OutputT>> {
  private static final KvCoder<Void, Boolean> SIGN_CODER =
      KvCoder.of(VoidCoder.of(), BooleanCoder.of());

  private static final WindowingStrategy<?, ?> SIGN_WINDOWING =
      WindowingStrategy.globalDefault()
          .withTrigger(
              AfterWatermark.pastEndOfWindow().withEarlyFirings(AfterPane.elementCountAtLeast(2)))
          .withMode(WindowingStrategy.AccumulationMode.DISCARDING_FIRED_PANES)
          .withTimestampCombiner(TimestampCombiner.EARLIEST);

  private final Combine.Globally<InputT, OutputT> original;

  CombineGloballyWithDefault(Combine.Globally<InputT, OutputT> original) {
    this.original = original;
  }

  @Override
  public PCollection<OutputT> expand(PCollection<InputT> input) {
    PCollection<OutputT> combined = input.apply("Combine", original.withoutDefaults());
    PCollection<KV<Void, Boolean>> notEmpty =
        input
            .apply("NotEmpty", ParDo.of(new NotEmptyFn<>()))
            .setCoder(SIGN_CODER)
            .setWindowingStrategyInternal(SIGN_WINDOWING);
    PCollection<KV<Void, Boolean>> perhapsEmpty =
        input
            .getPipeline()
            .apply("Impulse", Impulse.create())
            .apply("PerhapsEmpty", ParDo.of(new PerhapsEmptyFn()))
            .setCoder(SIGN_CODER)
            .setWindowingStrategyInternal(SIGN_WINDOWING);
    PCollection<OutputT> defaultIfEmpty =
        PCollectionList.of(perhapsEmpty)
            .and(notEmpty)
            .apply("Signs", Flatten.pCollections())
            .apply("GroupSigns", GroupByKey.create())
            .apply("DefaultIfEmpty", ParDo.of(new DefaultIfEmptyFn<>(original.getFn())))
            .setCoder(combined.getCoder())
            .setWindowingStrategyInternal(combined.getWindowingStrategy());
    return PCollectionList.of(combined)
        .and(defaultIfEmpty)
        .apply("WithDefault", Flatten.pCollections());
  }

  /** One {@code true} a bundle that has elements. */
  private static final class NotEmptyFn<InputT> extends DoFn<InputT, KV<Void, Boolean>> {
    private transient boolean said;

    @StartBundle
    public void startBundle() {
      said = false;
    }

    @ProcessElement
    public void processElement(OutputReceiver<KV<Void, Boolean>> output) {
      if (!said) {
        said = true;
        output.outputWithTimestamp(KV.of(null, true), GlobalWindow.INSTANCE.maxTimestamp());
      }
    }
  }

  private static final class PerhapsEmptyFn extends DoFn<byte[], KV<Void, Boolean>> {
    @ProcessElement
    public void processElement(OutputReceiver<KV<Void, Boolean>> output) {
      output.output(KV.of(null, false));
    }
  }

  private static final class DefaultIfEmptyFn<OutputT>
      extends DoFn<KV<Void, Iterable<Boolean>>, OutputT> {
    private final GlobalCombineFn<?, ?, OutputT> combineFn;

    private DefaultIfEmptyFn(GlobalCombineFn<?, ?, OutputT> combineFn) {
      this.combineFn = combineFn;
    }

    @ProcessElement
    public void processElement(
        @Element KV<Void, Iterable<Boolean>> signs, OutputReceiver<OutputT> output) {
      boolean perhapsEmpty = false;
      for (boolean notEmpty : signs.getValue()) {
        if (notEmpty) {
          return;
        }
        perhapsEmpty = true;
      }
      if (perhapsEmpty) {
        output.builder(combineFn.defaultValue()).setPaneInfo(PaneInfo.NO_FIRING).output();
      }
    }
  }
}
