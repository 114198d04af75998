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
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.schemas.SchemaCoder;

/**
 * A coder of keys by which they are equal if their bytes are, whatever their class says.
 *
 * <p>A Row is equal to another only if their schemas are, and a Schema remembers its hash code, which is
 * made of those of enum constants and so differs from JVM to JVM: two equal schemas, one of them made on
 * the driver and one on an executor, are told to differ. Beam's coders of rows say nonetheless that they
 * are consistent with {@code equals}.
 */
final class KeysByBytes<T> extends CustomCoder<T> {
  private final Coder<T> keyCoder;

  private KeysByBytes(Coder<T> keyCoder) {
    this.keyCoder = keyCoder;
  }

  /** The coder to compare keys by: as it is, unless there are rows in them. */
  static <T> Coder<T> of(Coder<T> keyCoder) {
    return hasRows(keyCoder) ? new KeysByBytes<>(keyCoder) : keyCoder;
  }

  private static boolean hasRows(Coder<?> coder) {
    return coder instanceof SchemaCoder<?>
        || coder.getCoderArguments().stream().anyMatch(KeysByBytes::hasRows);
  }

  @Override
  public void encode(T key, OutputStream out) throws IOException {
    keyCoder.encode(key, out);
  }

  @Override
  public T decode(InputStream in) throws IOException {
    return keyCoder.decode(in);
  }

  @Override
  public void verifyDeterministic() throws NonDeterministicException {
    keyCoder.verifyDeterministic();
  }

  @Override
  public boolean consistentWithEquals() {
    return false;
  }
}
