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
import java.io.UncheckedIOException;
import java.util.AbstractCollection;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.sdk.coders.Coder;

/** Values one behind the other in a range of bytes; every iteration decodes them anew. */
final class EncodedValues extends AbstractCollection<Object> {
  private final Coder<Object> coder;
  private final byte[] bytes;
  private final int offset;
  private final int length;
  private final int count;

  EncodedValues(Coder<Object> coder, byte[] bytes, int offset, int length, int count) {
    this.coder = coder;
    this.bytes = bytes;
    this.offset = offset;
    this.length = length;
    this.count = count;
  }

  @Override
  public int size() {
    return count;
  }

  @Override
  public Iterator<Object> iterator() {
    ByteInput input = new ByteInput();
    input.reset(bytes, offset, length);
    return new Iterator<>() {
      private int left = count;

      @Override
      public boolean hasNext() {
        return left > 0;
      }

      @Override
      public Object next() {
        if (left == 0) {
          throw new NoSuchElementException();
        }
        left--;
        try {
          return coder.decode(input);
        } catch (IOException e) {
          throw new UncheckedIOException("A value cannot be decoded with " + coder, e);
        }
      }
    };
  }
}
