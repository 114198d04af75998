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

import java.math.BigInteger;
import org.apache.beam.runners.core.StateInternals;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.core.StateTag;
import org.apache.beam.runners.core.StateTags;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.state.ValueState;

/**
 * The backlog of a splittable DoFn in one partition: the sum of the sizes of all rests, as the DoFn
 * gives them.
 *
 * <pre>
 * backlog = sum over rests of size(rest)
 * </pre>
 *
 * <p>The size of a rest is in a cell of its key and window, the sum in a row of the step. A turn takes
 * the size of the rest that it takes up off the sum and adds that of what it leaves, so what an epoch
 * costs does not depend on rests that it does not touch. Sizes are whole numbers and the sum has no
 * bound: it is exact.
 */
final class RestBacklog {
  /** The size of a rest, or the backlog, of a DoFn that gives none. */
  static final long UNKNOWN = -1;

  private static final byte[] NO_SUFFIX = new byte[0];
  private static final BigInteger GREATEST = BigInteger.valueOf(Long.MAX_VALUE);
  private static final StateTag<ValueState<Long>> SIZE =
      StateTags.makeSystemTagInternal(StateTags.value("size", VarLongCoder.of()));

  private final StepRows rows;
  private final byte[] prefix;
  private BigInteger sum;
  private boolean known;
  private boolean changed;

  /**
   * The backlog that the step's rows hold.
   *
   * @param kind kind of the row of the sum
   * @param known whether the DoFn is known to give sizes, before it has given any
   */
  RestBacklog(StepRows rows, byte kind, boolean known) {
    this.rows = rows;
    this.prefix = rows.prefix(kind).toByteArray();
    byte[] stored = rows.get(prefix, NO_SUFFIX);
    this.sum = stored == null ? BigInteger.ZERO : new BigInteger(stored);
    this.known = known || stored != null;
  }

  /** A turn takes up the rest of a key and window. */
  void take(StateInternals state, StateNamespace namespace) {
    if (known) {
      ValueState<Long> cell = state.state(namespace, SIZE);
      Long size = cell.read();
      if (size != null) {
        change(-size);
        cell.clear();
      }
    }
  }

  /**
   * A turn leaves a rest.
   *
   * @param size at least 0, or {@link #UNKNOWN}
   */
  void leave(StateInternals state, StateNamespace namespace, long size) {
    if (size != UNKNOWN) {
      // The row says in later epochs that there are cells, though their sum may be 0.
      changed |= !known;
      known = true;
      state.state(namespace, SIZE).write(size);
      change(size);
    }
  }

  private void change(long difference) {
    if (difference != 0) {
      sum = sum.add(BigInteger.valueOf(difference));
      changed = true;
    }
  }

  /** The sum, at most {@link Long#MAX_VALUE}; {@link #UNKNOWN} of a DoFn that has never given a size. */
  long total() {
    return known ? sum.min(GREATEST).longValueExact() : UNKNOWN;
  }

  void flush() {
    if (changed) {
      rows.putUncounted(prefix, NO_SUFFIX, sum.toByteArray());
      changed = false;
    }
  }
}
