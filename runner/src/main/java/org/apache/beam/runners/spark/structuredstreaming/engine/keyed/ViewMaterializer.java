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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import org.apache.beam.runners.core.InMemoryMultimapSideInputView;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.MaterializedViews.Materialized;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewParts;
import org.apache.beam.runners.spark.structuredstreaming.translation.ViewStep;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.transforms.Materializations;
import org.apache.beam.sdk.transforms.Materializations.IterableView;
import org.apache.beam.sdk.transforms.Materializations.MultimapView;
import org.apache.beam.sdk.transforms.ViewFn;
import org.apache.beam.sdk.values.KV;

/** Makes of the elements of a pane what user code reads of the view. Thread-safe. */
public final class ViewMaterializer {
  private final ViewFn<?, ?> viewFn;
  private final boolean iterable;
  private final Coder<Object> elementCoder;

  @SuppressWarnings("unchecked") // elements are untyped between steps
  public ViewMaterializer(ViewStep step) {
    this.viewFn = ViewParts.viewFn(step.view());
    this.iterable =
        ViewParts.materialization(step.view()).equals(Materializations.ITERABLE_MATERIALIZATION_URN);
    this.elementCoder = (Coder<Object>) step.elementCoder();
  }

  /** Coder of a pane's elements. */
  public Coder<Object> elementCoder() {
    return elementCoder;
  }

  /** Whether the view is made of a multimap, of elements that are KVs; else of their iterable. */
  public boolean isOfMultimap() {
    return !iterable;
  }

  /**
   * Coder of a pane's elements where these are pairs of a multimap: the structural values of its key coder
   * are what keys are compared by.
   */
  @SuppressWarnings("unchecked") // elements are untyped between steps
  public KvCoder<Object, Object> pairCoder() {
    KvCoder<Object, Object> coder = (KvCoder<Object, Object>) (Coder<?>) elementCoder;
    return KvCoder.of(RowKeyCoder.of(coder.getKeyCoder()), coder.getValueCoder());
  }

  /** The view in a window, of a multimap that stays as long as the view is read. */
  @SuppressWarnings("unchecked") // elements are untyped between steps
  public Materialized of(MultimapView<Object, Object> multimap) {
    return new Materialized(((ViewFn<MultimapView<Object, Object>, Object>) viewFn).apply(multimap));
  }

  /**
   * The view in a window.
   *
   * @param elements the pane's, to be iterated any number of times
   */
  @SuppressWarnings("unchecked") // elements are untyped between steps
  public Materialized of(Iterable<Object> elements) {
    if (iterable) {
      IterableView<Object> view = () -> elements;
      return new Materialized(((ViewFn<IterableView<Object>, Object>) viewFn).apply(view));
    }
    Iterable<KV<Object, Object>> pairs = (Iterable<KV<Object, Object>>) (Iterable<?>) elements;
    return of(
        InMemoryMultimapSideInputView.<Object, Object>fromIterable(pairCoder().getKeyCoder(), pairs));
  }
}
