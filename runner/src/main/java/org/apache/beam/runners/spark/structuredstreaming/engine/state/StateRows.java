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
import java.util.function.Consumer;

/**
 * The rows {@code (prefix, suffix) -> value} of one level and partition during one epoch.
 *
 * <p>Used by the one thread of the task that opened them. Reads see all changes made before through
 * the same object. Nothing is durable before the store behind has been committed; a task that runs
 * again opens the same version and sees none of the changes of the attempt before.
 *
 * <p>Arrays passed in are kept and arrays returned are shared: neither side changes them. Values
 * may be empty but never null. Errors of the store come through as the store throws them.
 */
public interface StateRows {
  /** The row's value, or null if there is no such row. */
  byte[] get(byte[] prefix, byte[] suffix);

  /** Writes the row, whether it exists or not. */
  void put(byte[] prefix, byte[] suffix, byte[] value);

  /**
   * Writes a row which the caller knows not to exist: as {@link #put}, without a look at the store.
   * Called for a row that does exist it leaves totals and later removals wrong.
   */
  void insert(byte[] prefix, byte[] suffix, byte[] value);

  /** Removes the row if it exists. */
  void remove(byte[] prefix, byte[] suffix);

  /**
   * All rows of the prefix as they are now, in no particular order. Changes made while iterating do
   * not show.
   */
  Iterator<StateRow> scan(byte[] prefix);

  /**
   * All rows of the prefix as they are now, in no particular order, each removed when it is
   * returned. Made for more rows than memory holds: none of them is kept. A row that was returned may
   * be written again at once and then stays; others of the prefix are not to be touched before the
   * end is reached.
   */
  Iterator<StateRow> drain(byte[] prefix);

  /** {@link #scan} into an action, which may change rows. */
  default void forEach(byte[] prefix, Consumer<StateRow> action) {
    scan(prefix).forEachRemaining(action);
  }

  /** Hands all changes to what lies behind. Changes nothing that {@link #get} or scans return. */
  void flush();
}
