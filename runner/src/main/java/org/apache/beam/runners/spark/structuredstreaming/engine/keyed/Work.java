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

import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;

/**
 * Work of a task that is done in small pieces, so that what it outputs can be drained in between and
 * does not pile up in memory.
 */
@FunctionalInterface
public interface Work {
  /** No work at all. */
  Work NONE = () -> false;

  /** Does one piece; false if there was nothing left to do. */
  boolean advance();

  /** Applies {@code action} to one item after another. The iterator is made at the first piece. */
  static <T> Work each(Iterable<T> items, Consumer<? super T> action) {
    return new Work() {
      private Iterator<T> iterator;

      @Override
      public boolean advance() {
        if (iterator == null) {
          iterator = items.iterator();
        }
        if (!iterator.hasNext()) {
          return false;
        }
        action.accept(iterator.next());
        return true;
      }
    };
  }

  /** Does all there is, where output may pile up. */
  default void complete() {
    boolean more = advance();
    while (more) {
      more = advance();
    }
  }

  /** One action. */
  static Work once(Runnable action) {
    return each(List.of(action), Runnable::run);
  }

  /** One work after the other; each is made when the one before is done. */
  static Work sequence(Iterator<Work> works) {
    return new Work() {
      private Work current = NONE;

      @Override
      public boolean advance() {
        while (!current.advance()) {
          if (!works.hasNext()) {
            return false;
          }
          current = works.next();
        }
        return true;
      }
    };
  }

  /** One work after the other. */
  static Work sequence(Work... works) {
    return sequence(List.of(works).iterator());
  }
}
