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

import java.util.Collections;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.IterableCoder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.VoidCoder;
import org.apache.beam.sdk.runners.PTransformOverride;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;

/**
 * Replaces {@link Combine.Globally#asSingletonView}: a pane of the combine is a pane of the view as it
 * stands. To group once more what is combined would put two panes that come together into one.
 */
final class CombinedViewOverride<InputT, OutputT>
    extends ReplacedView<InputT, OutputT, Combine.GloballyAsSingletonView<InputT, OutputT>> {
  static final PTransformOverride OVERRIDE =
      PTransformOverride.of(
          application -> application.getTransform() instanceof Combine.GloballyAsSingletonView<?, ?>,
          new CombinedViewOverride<>());

  private CombinedViewOverride() {}

  @Override
  PTransform<PCollection<InputT>, PCollectionView<OutputT>> replacement(
      Combine.GloballyAsSingletonView<InputT, OutputT> original, PCollectionView<OutputT> view) {
    return new CombinedPanes<>(original, view);
  }

  private static final class CombinedPanes<InputT, OutputT>
      extends PTransform<PCollection<InputT>, PCollectionView<OutputT>> {
    private final Combine.GloballyAsSingletonView<InputT, OutputT> original;
    private final PCollectionView<OutputT> view;

    CombinedPanes(
        Combine.GloballyAsSingletonView<InputT, OutputT> original, PCollectionView<OutputT> view) {
      this.original = original;
      this.view = view;
    }

    @Override
    public PCollectionView<OutputT> expand(PCollection<InputT> input) {
      PCollection<OutputT> combined =
          input.apply(
              "CombineValues",
              Combine.<InputT, OutputT>globally(original.getCombineFn())
                  .withoutDefaults()
                  .withFanout(original.getFanout()));
      Coder<OutputT> coder = combined.getCoder();
      return ReplacedView.output(
          combined
              .apply("PaneOfOne", ParDo.of(new PaneOfOneFn<OutputT>()))
              .setCoder(KvCoder.of(VoidCoder.of(), IterableCoder.of(coder)))
              .apply("Panes", new ViewPanes<>(view, coder)));
    }
  }

  private static final class PaneOfOneFn<T> extends DoFn<T, KV<Void, Iterable<T>>> {
    @ProcessElement
    public void processElement(
        @Element T element, OutputReceiver<KV<Void, Iterable<T>>> output) {
      output.output(KV.of(null, Collections.singletonList(element)));
    }
  }
}
