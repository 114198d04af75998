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

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;

/** The elements of a list's snapshot, decoded while they are iterated. */
final class ListIterable<T> implements Iterable<T> {
  private final RowList.Snapshot snapshot;
  private final Function<ByteInput, T> decode;

  ListIterable(RowList.Snapshot snapshot, Function<ByteInput, T> decode) {
    this.snapshot = snapshot;
    this.decode = decode;
  }

  @Override
  public Iterator<T> iterator() {
    RowList.Cursor cursor = snapshot.cursor();
    return new Iterator<>() {
      private ByteInput next = cursor.next();

      @Override
      public boolean hasNext() {
        return next != null;
      }

      @Override
      public T next() {
        if (next == null) {
          throw new NoSuchElementException();
        }
        T value = decode.apply(next);
        next = cursor.next();
        return value;
      }
    };
  }

  /** As a collection would print it: iterables of state end up in logs and failed assertions. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[");
    for (T element : this) {
      text.append(text.length() > 1 ? ", " : "").append(element);
    }
    return text.append(']').toString();
  }
}
