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

import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateRows;
import org.apache.beam.sdk.coders.Coder;

/**
 * The values of a group too large to hold: chunk after chunk is read from the state while they are
 * iterated. Valid until the end of the epoch, on the task's thread.
 */
final class ChunkedValues implements Iterable<Object> {
  private final StateRows rows;
  private final byte[] prefix;
  private final int firstChunk;
  private final int nextChunk;
  private final Coder<Object> coder;
  private final EncodedValues newest;

  /**
   * @param nextChunk number behind the last chunk
   * @param newest the values that follow the chunks
   */
  ChunkedValues(
      StateRows rows,
      byte[] prefix,
      int firstChunk,
      int nextChunk,
      Coder<Object> coder,
      EncodedValues newest) {
    this.rows = rows;
    this.prefix = prefix;
    this.firstChunk = firstChunk;
    this.nextChunk = nextChunk;
    this.coder = coder;
    this.newest = newest;
  }

  @Override
  public Iterator<Object> iterator() {
    return new Iterator<>() {
      private int chunk = firstChunk;
      private Iterator<Object> values = Collections.emptyIterator();
      private boolean last;

      @Override
      public boolean hasNext() {
        while (!values.hasNext()) {
          if (last) {
            return false;
          }
          last = chunk == nextChunk;
          values = last ? newest.iterator() : valuesOf(chunk++);
        }
        return true;
      }

      @Override
      public Object next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return values.next();
      }
    };
  }

  private Iterator<Object> valuesOf(int chunk) {
    byte[] value = rows.get(prefix, GroupingPanes.chunkSuffix(chunk));
    if (value == null) {
      throw new IllegalStateException(
          "Chunk " + chunk + " of a group is gone. The values of a group can be iterated until the"
              + " bundle that received it ends: copy what is needed longer.");
    }
    ByteInput input = new ByteInput(value);
    int count = input.readVarInt();
    return new EncodedValues(coder, value, input.position(), input.available(), count).iterator();
  }
}
