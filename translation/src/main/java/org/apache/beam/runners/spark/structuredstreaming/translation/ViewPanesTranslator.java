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

import java.util.Set;
import org.apache.beam.sdk.transforms.Materializations;
import org.apache.beam.sdk.values.PCollectionView;

/**
 * Notes which collection has a view's panes. The {@link ViewStep}s that take them are added where
 * the view is read, one for each level it is read on.
 */
final class ViewPanesTranslator implements TransformTranslator<ViewPanes<?>> {
  private static final Set<String> MATERIALIZATIONS =
      Set.of(
          Materializations.ITERABLE_MATERIALIZATION_URN,
          Materializations.MULTIMAP_MATERIALIZATION_URN);

  @Override
  public void translate(ViewPanes<?> transform, TranslationContext context) {
    PCollectionView<?> view = transform.view();
    String materialization = ViewParts.materialization(view);
    if (!MATERIALIZATIONS.contains(materialization)) {
      context.refuse(
          "makes a view with "
              + ViewParts.viewFn(view).getClass().getName()
              + " from the materialization "
              + materialization
              + "; supported are "
              + MATERIALIZATIONS);
    }
    context.defineView(view);
  }
}
