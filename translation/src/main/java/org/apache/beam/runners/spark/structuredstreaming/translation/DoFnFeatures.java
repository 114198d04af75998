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
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.reflect.DoFnSignature;
import org.apache.beam.sdk.transforms.reflect.DoFnSignatures;

/** What a DoFn asks of the runner beyond elements in, elements out. */
final class DoFnFeatures {
  private DoFnFeatures() {}

  /** Why a ParDo of {@code doFn} cannot be run; empty if it can. */
  static List<String> unsupported(DoFn<?, ?> doFn) {
    DoFnSignature signature = DoFnSignatures.getSignature(doFn.getClass());
    List<String> reasons = new ArrayList<>();
    if (signature.processElement().isSplittable()) {
      reasons.add(
          describe(doFn)
              + " is a splittable DoFn, which is not supported yet; a source can be read with"
              + " Read.from(UnboundedSource) or Read.from(BoundedSource)");
    }
    if (signature.processElement().requiresStableInput()) {
      reasons.add(describe(doFn) + " is marked @RequiresStableInput, which is not supported yet");
    }
    if (DoFnSignatures.usesBundleFinalizer(doFn)) {
      reasons.add(
          describe(doFn)
              + " asks for a BundleFinalizer, which is not supported yet; only the marks of an"
              + " UnboundedSource are finalized");
    }
    return reasons;
  }

  /** Whether elements of a key have to meet in one place, and one after the other. */
  static boolean isKeyed(DoFnSignature signature) {
    return !signature.stateDeclarations().isEmpty()
        || !signature.timerDeclarations().isEmpty()
        || !signature.timerFamilyDeclarations().isEmpty()
        || signature.onWindowExpiration() != null
        || signature.processElement().requiresTimeSortedInput();
  }

  private static String describe(DoFn<?, ?> doFn) {
    return "DoFn " + doFn.getClass().getName();
  }
}
