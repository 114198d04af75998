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

import org.apache.beam.sdk.transforms.ViewFn;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.WindowMappingFn;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;

/**
 * What a view is made of. Beam marks these methods deprecated to keep users away from them; for
 * runners there are no others.
 */
@SuppressWarnings("deprecation") // meant for runners, as the class says
public final class ViewParts {
  private ViewParts() {}

  /** What a view is known by, in every copy. */
  public static TupleTag<?> tag(PCollectionView<?> view) {
    return view.getTagInternal();
  }

  /** Makes what user code reads of what the runner has. */
  public static ViewFn<?, ?> viewFn(PCollectionView<?> view) {
    return view.getViewFn();
  }

  /** The form in which {@link #viewFn} wants the elements, by its URN. */
  public static String materialization(PCollectionView<?> view) {
    return view.getViewFn().getMaterialization().getUrn();
  }

  /** From windows of a main input to the view's. */
  public static WindowMappingFn<? extends BoundedWindow> windowMapping(PCollectionView<?> view) {
    return view.getWindowMappingFn();
  }
}
