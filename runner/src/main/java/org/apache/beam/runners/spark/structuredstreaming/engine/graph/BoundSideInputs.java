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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import java.util.Objects;
import org.apache.beam.runners.core.NullSideInputReader;
import org.apache.beam.runners.core.SideInputReader;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.PCollectionView;

/** The side inputs of a DoFn that lives across epochs: those of the present one. */
final class BoundSideInputs implements SideInputReader {
  private SideInputReader bound = NullSideInputReader.empty();

  void bind(SideInputReader sideInputs) {
    bound = Objects.requireNonNull(sideInputs, "sideInputs");
  }

  void unbind() {
    bound = NullSideInputReader.empty();
  }

  @Override
  public <T> T get(PCollectionView<T> view, BoundedWindow window) {
    return bound.get(view, window);
  }

  @Override
  public <T> boolean contains(PCollectionView<T> view) {
    return bound.contains(view);
  }

  @Override
  public boolean isEmpty() {
    return bound.isEmpty();
  }
}
