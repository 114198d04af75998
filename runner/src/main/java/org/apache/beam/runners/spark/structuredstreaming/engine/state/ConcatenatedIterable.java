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
import java.util.List;
import java.util.NoSuchElementException;

/** Several iterables one after the other, each begun when the one before has ended. */
final class ConcatenatedIterable<T> implements Iterable<T> {
  private final List<Iterable<T>> parts;

  ConcatenatedIterable(List<Iterable<T>> parts) {
    this.parts = parts;
  }

  @Override
  public Iterator<T> iterator() {
    Iterator<Iterable<T>> remaining = parts.iterator();
    return new Iterator<>() {
      private Iterator<T> current;

      @Override
      public boolean hasNext() {
        while (current == null || !current.hasNext()) {
          if (!remaining.hasNext()) {
            return false;
          }
          current = remaining.next().iterator();
        }
        return true;
      }

      @Override
      public T next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return current.next();
      }
    };
  }
}
