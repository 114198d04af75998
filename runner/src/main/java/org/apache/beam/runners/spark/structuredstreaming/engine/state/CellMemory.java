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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;

/**
 * Memory that the cells of a step share: a buffer to encode into, and the sum of the encoded bytes
 * they hold back, by which {@link StepStateContext} bounds them. Cells count what they know without
 * encoding anew: the sum is an estimate.
 */
final class CellMemory {
  private final ByteOutput scratch = new ByteOutput(256);
  private long heldBytes;

  /** Holds nothing between two uses. */
  ByteOutput scratch() {
    return scratch;
  }

  long heldBytes() {
    return heldBytes;
  }

  void change(long delta) {
    heldBytes += delta;
  }
}
