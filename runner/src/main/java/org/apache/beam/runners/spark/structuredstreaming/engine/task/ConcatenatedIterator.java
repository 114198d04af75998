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
package org.apache.beam.runners.spark.structuredstreaming.engine.task;

import java.util.Iterator;
import java.util.NoSuchElementException;
import scala.collection.AbstractIterator;

/** One Scala iterator after another. */
final class ConcatenatedIterator<T> extends AbstractIterator<T> {
  private final Iterator<? extends scala.collection.Iterator<T>> iterators;
  private scala.collection.Iterator<T> current;

  ConcatenatedIterator(Iterator<? extends scala.collection.Iterator<T>> iterators) {
    this.iterators = iterators;
  }

  @Override
  public boolean hasNext() {
    while (current == null || !current.hasNext()) {
      if (!iterators.hasNext()) {
        return false;
      }
      current = iterators.next();
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
}
