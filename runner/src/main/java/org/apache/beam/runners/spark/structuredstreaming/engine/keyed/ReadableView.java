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

import java.util.function.LongSupplier;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.PCollectionView;

/** A view as the steps of one task read it. */
public interface ReadableView {
  PCollectionView<?> view();

  /** Full name of the step that keeps the view. */
  String fullName();

  /** Whether what {@link #get} returns for a window is the view's, a later pane excepted. */
  boolean isReady(BoundedWindow window);

  /** Whether what there was for windows with this window's end is gone. */
  boolean isCollected(BoundedWindow window);

  /** What user code reads of the view in a window that is ready. */
  Object get(BoundedWindow window);

  /**
   * Adds a consumer.
   *
   * @param firstMainEnd the least end, in millis, of a main window for which it may still ask,
   *     expired ones excepted; asked for when the epoch ends
   */
  void addConsumer(LongSupplier firstMainEnd);
}
