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

import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.util.UserCodeException;
import org.apache.beam.sdk.values.WindowedValue;

/** Runs a fused ParDo: hands every element to its DoFn. */
final class ParDoRunner implements ElementReceiver {
  private final LiveDoFn doFn;

  ParDoRunner(LiveDoFn doFn) {
    this.doFn = doFn;
  }

  @Override
  public void accept(WindowedValue<Object> element) {
    MetricsContainer outer = doFn.enter();
    try {
      doFn.runner().processElement(element);
    } catch (UserCodeException e) {
      throw doFn.failure("processing an element", e);
    } finally {
      doFn.leave(outer);
    }
  }
}
