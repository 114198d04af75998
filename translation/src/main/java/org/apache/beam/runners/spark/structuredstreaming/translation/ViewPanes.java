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
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;

/**
 * The end of a view's making, a primitive: each element of its input is a pane of the view, complete
 * in itself, in one window. All panes of a window have to come out of one task, in their order. It has
 * an output only because the transform that it stands for has one; nothing comes out of it.
 */
final class ViewPanes<ElemT>
    extends PTransform<PCollection<KV<Void, Iterable<ElemT>>>, PCollection<ElemT>> {
  private final PCollectionView<?> view;
  private final Coder<ElemT> coder;

  /**
   * @param coder of the elements in a pane
   */
  ViewPanes(PCollectionView<?> view, Coder<ElemT> coder) {
    this.view = Objects.requireNonNull(view, "view");
    this.coder = Objects.requireNonNull(coder, "coder");
  }

  PCollectionView<?> view() {
    return view;
  }

  @Override
  public PCollection<ElemT> expand(PCollection<KV<Void, Iterable<ElemT>>> input) {
    return PCollection.createPrimitiveOutputInternal(
        input.getPipeline(), input.getWindowingStrategy(), input.isBounded(), coder);
  }
}
