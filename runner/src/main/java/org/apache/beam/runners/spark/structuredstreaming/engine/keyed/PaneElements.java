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

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.beam.sdk.coders.Coder;

/**
 * The elements of a view's pane: decoded and in memory if they are few, else decoded anew while they
 * are iterated. Any number of threads may read them.
 */
public final class PaneElements implements Iterable<Object> {
  /** Encoded bytes up to which elements are kept decoded, which takes a few times as much. */
  private static final long MAX_DECODED_BYTES = 16L << 20;

  private final List<Iterable<Object>> chunks;

  private PaneElements(List<Iterable<Object>> chunks) {
    this.chunks = chunks;
  }

  /**
   * The elements of all chunks, one behind the other.
   *
   * @param bytes of all of them, encoded
   */
  public static Iterable<Object> of(List<? extends Iterable<Object>> chunks, long bytes) {
    Iterable<Object> elements = encoded(chunks);
    if (bytes > MAX_DECODED_BYTES) {
      return elements;
    }
    List<Object> decoded = new ArrayList<>();
    elements.forEach(decoded::add);
    return Collections.unmodifiableList(decoded);
  }

  /** The elements of all chunks, decoded by every iteration. */
  public static Iterable<Object> encoded(List<? extends Iterable<Object>> chunks) {
    return new PaneElements(List.copyOf(chunks));
  }

  /** A chunk as it is stored. */
  public static Iterable<Object> chunk(Coder<Object> coder, byte[] bytes, int offset, int count) {
    return new EncodedValues(coder, bytes, offset, bytes.length - offset, count);
  }

  @Override
  public Iterator<Object> iterator() {
    Iterator<Iterable<Object>> remaining = chunks.iterator();
    return new Iterator<>() {
      private Iterator<Object> current = Collections.emptyIterator();

      @Override
      public boolean hasNext() {
        while (!current.hasNext()) {
          if (!remaining.hasNext()) {
            return false;
          }
          current = remaining.next().iterator();
        }
        return true;
      }

      @Override
      public Object next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return current.next();
      }
    };
  }
}
