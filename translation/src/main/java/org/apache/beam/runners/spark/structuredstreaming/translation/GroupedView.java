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
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.VoidCoder;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;

/**
 * Groups all elements of a window, as windowing and trigger of the input say, so that each pane is a
 * state of the view in its window, complete in itself: {@link ViewPanes} stands behind.
 */
final class GroupedView<ElemT> extends PTransform<PCollection<ElemT>, PCollection<ElemT>> {
  private final PCollectionView<?> view;

  GroupedView(PCollectionView<?> view) {
    this.view = Objects.requireNonNull(view, "view");
  }

  @Override
  public PCollection<ElemT> expand(PCollection<ElemT> input) {
    return input
        .apply("WithVoidKey", WithKeys.of((Void) null))
        .setCoder(KvCoder.of(VoidCoder.of(), input.getCoder()))
        .apply("Group", GroupByKey.create())
        .apply("Panes", new ViewPanes<>(view, input.getCoder()));
  }
}
