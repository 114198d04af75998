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
import org.apache.beam.sdk.transforms.windowing.WindowFn;

/** Window.into: gives every element the windows its WindowFn assigns. Fused. */
public final class AssignWindowsStep extends Step {
  private final WindowFn<?, ?> windowFn;

  public AssignWindowsStep(
      int index,
      String fullName,
      WindowFn<?, ?> windowFn,
      PlanCollection input,
      PlanCollection output) {
    super(index, fullName, List.of(input), List.of(output));
    this.windowFn = Objects.requireNonNull(windowFn, "windowFn");
  }

  public WindowFn<?, ?> windowFn() {
    return windowFn;
  }

  public PlanCollection input() {
    return inputs().get(0);
  }

  public PlanCollection output() {
    return outputs().get(0);
  }
}
