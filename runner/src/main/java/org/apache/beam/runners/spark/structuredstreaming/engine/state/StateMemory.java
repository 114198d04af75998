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

/** How much memory a task's state may take on the heap where it can go elsewhere, by the heap's size. */
public final class StateMemory {
  /** A share for each task, of which an executor may have many at a time. */
  private static final int SHARE = 32;

  private static final long LEAST_BYTES = 4L << 20;
  private static final long MOST_BYTES = 64L << 20;

  private StateMemory() {}

  /** A 32nd of the heap, but at least 4 MB and at most 64 MB. */
  public static long limitBytes() {
    return limitBytes(Runtime.getRuntime().maxMemory());
  }

  static long limitBytes(long heapBytes) {
    return Math.max(LEAST_BYTES, Math.min(MOST_BYTES, heapBytes / SHARE));
  }
}
