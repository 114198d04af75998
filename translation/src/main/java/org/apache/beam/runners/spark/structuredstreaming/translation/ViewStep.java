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

import java.util.List;
import java.util.Objects;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.IterableCoder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.values.PCollectionView;

/**
 * Keeps a view where it is read: the panes of the view, {@code KV<Void, Iterable<element>>}, are
 * broadcast to every partition of the level. There is one for each view and level that has steps
 * reading it, shared by them; it has no output. In a batch plan there is one for each view that is read,
 * on the level behind its panes, for the readers of that level and all above.
 */
public final class ViewStep extends KeyedStep {
  private final PCollectionView<?> view;

  /**
   * @param fullName name of the view's transform and the level
   */
  public ViewStep(
      int index, String fullName, int level, PCollectionView<?> view, PlanCollection panes) {
    super(index, fullName, level, List.of(panes), List.of());
    this.view = Objects.requireNonNull(view, "view");
  }

  /** Known by its tag: equal to the copies that DoFns hold. */
  public PCollectionView<?> view() {
    return view;
  }

  /** Coder of the elements that make a pane. */
  public Coder<?> elementCoder() {
    KvCoder<?, ?> paneCoder = (KvCoder<?, ?>) input().coder();
    return ((IterableCoder<?>) paneCoder.getValueCoder()).getElemCoder();
  }
}
