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
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.IterableCoder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.coders.VoidCoder;
import org.apache.beam.sdk.runners.PTransformOverride;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;

/**
 * Replaces {@link View#asSingleton}, which Beam expands into a combine that fails on two elements and
 * on none, wherever a pane has them. Here
 *
 * <ul>
 *   <li>of the elements in a pane those count that have the highest pane index, as what has fired
 *       later upstream stands for what has fired before; two that count are one too many for whoever
 *       reads them, as ever;
 *   <li>a pane without elements, as a window may have at its end, leaves the view as it is.
 * </ul>
 */
final class SingletonViewOverride<T> extends ReplacedView<T, T, View.AsSingleton<T>> {
  static final PTransformOverride OVERRIDE =
      PTransformOverride.of(
          application -> application.getTransform() instanceof View.AsSingleton<?>,
          new SingletonViewOverride<>());

  private SingletonViewOverride() {}

  @Override
  PTransform<PCollection<T>, PCollectionView<T>> replacement(
      View.AsSingleton<T> original, PCollectionView<T> view) {
    return new NewestElements<>(view);
  }

  private static final class NewestElements<T>
      extends PTransform<PCollection<T>, PCollectionView<T>> {
    private final PCollectionView<T> view;

    NewestElements(PCollectionView<T> view) {
      this.view = view;
    }

    @Override
    public PCollectionView<T> expand(PCollection<T> input) {
      Coder<T> coder = input.getCoder();
      return ReplacedView.output(
          input
              .apply("WithPaneIndex", ParDo.of(new WithPaneIndexFn<T>()))
              .setCoder(KvCoder.of(VoidCoder.of(), KvCoder.of(VarLongCoder.of(), coder)))
              .apply("Group", GroupByKey.create())
              .apply("Newest", ParDo.of(new NewestFn<T>()))
              .setCoder(KvCoder.of(VoidCoder.of(), IterableCoder.of(coder)))
              .apply("Panes", new ViewPanes<>(view, coder)));
    }
  }

  private static final class WithPaneIndexFn<T> extends DoFn<T, KV<Void, KV<Long, T>>> {
    @ProcessElement
    public void processElement(
        @Element T element, PaneInfo pane, OutputReceiver<KV<Void, KV<Long, T>>> output) {
      output.output(KV.of(null, KV.of(pane.getIndex(), element)));
    }
  }

  private static final class NewestFn<T>
      extends DoFn<KV<Void, Iterable<KV<Long, T>>>, KV<Void, Iterable<T>>> {
    @ProcessElement
    public void processElement(
        @Element KV<Void, Iterable<KV<Long, T>>> pane,
        OutputReceiver<KV<Void, Iterable<T>>> output) {
      List<T> newest = new ArrayList<>();
      long highest = -1;
      for (KV<Long, T> element : pane.getValue()) {
        if (element.getKey() > highest) {
          newest.clear();
          highest = element.getKey();
        }
        if (element.getKey() == highest) {
          newest.add(element.getValue());
        }
      }
      if (!newest.isEmpty()) {
        output.output(KV.of(null, newest));
      }
    }
  }
}
