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

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/** Encodes what rows are filed under. */
final class Encoding {
  private static final int USUAL_BYTES = 64;

  private Encoding() {}

  /** A window's bytes. */
  static byte[] window(String stepName, Coder<BoundedWindow> coder, BoundedWindow window) {
    try {
      return encode(coder, window);
    } catch (IOException | RuntimeException e) {
      throw new StepFailedException(
          stepName, "encoding window " + window + " with " + coder, e);
    }
  }

  /** A key's bytes, without the outer context. */
  static <K> byte[] key(String stepName, Coder<K> coder, K key) {
    try {
      return encode(coder, key);
    } catch (IOException | RuntimeException e) {
      throw new StepFailedException(stepName, "encoding a key with " + coder, e);
    }
  }

  private static <T> byte[] encode(Coder<T> coder, T value) throws IOException {
    ByteOutput bytes = new ByteOutput(USUAL_BYTES);
    coder.encode(value, bytes);
    return bytes.toByteArray();
  }
}
