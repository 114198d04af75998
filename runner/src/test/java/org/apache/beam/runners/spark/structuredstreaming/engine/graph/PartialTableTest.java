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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.beam.sdk.coders.ByteArrayCoder;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.junit.jupiter.api.Test;

/** How much partial accumulators are kept before they are sent. */
class PartialTableTest {
  private static final long LIMIT = 1 << 20;
  private static final BoundedWindow WINDOW = GlobalWindow.INSTANCE;

  /** Accumulators of all bytes that were added, or of the last ones. */
  private static final class BytesFn extends CombineFn<Object, Object, Object> {
    private final boolean growing;

    BytesFn(boolean growing) {
      this.growing = growing;
    }

    @Override
    public Object createAccumulator() {
      return new byte[0];
    }

    @Override
    public Object addInput(Object accumulator, Object input) {
      byte[] before = (byte[]) accumulator;
      byte[] added = (byte[]) input;
      return growing ? Arrays.copyOf(before, before.length + added.length) : added;
    }

    @Override
    public Object mergeAccumulators(Iterable<Object> accumulators) {
      throw new UnsupportedOperationException("A table merges nothing");
    }

    @Override
    public Object extractOutput(Object accumulator) {
      return accumulator;
    }
  }

  @SuppressWarnings("unchecked") // as the sender's, which are untyped
  private static PartialTable table(boolean growing) {
    return new PartialTable(
        (Coder<Object>) (Coder<?>) VarLongCoder.of(),
        new BytesFn(growing),
        (Coder<Object>) (Coder<?>) ByteArrayCoder.of(),
        false,
        LIMIT);
  }

  /** Adds values, of keys by turns, until the table is full; returns the bytes that it then has. */
  private static long fill(PartialTable table, int keys, int valueBytes) throws IOException {
    int values = 0;
    while (!table.isFull()) {
      table.add((long) values % keys, WINDOW, new byte[valueBytes], 0);
      values++;
      assertThat((long) values * valueBytes, lessThan(4 * LIMIT));
    }
    List<Integer> sizes = new ArrayList<>();
    table.drain((key, window, bytes, elements, time) -> sizes.add(((byte[]) bytes).length));
    assertThat(table.isFull(), is(false));
    return sizes.stream().mapToLong(Integer::longValue).sum();
  }

  @Test
  void accumulatorsThatGrowAreSentWhenTheyAreLargeTogether() throws IOException {
    PartialTable table = table(true);
    for (int keys : new int[] {1, 3, 100, 100_000}) {
      assertThat(fill(table, keys, 1000), greaterThan(LIMIT / 2));
      assertThat(fill(table, keys, 1000), lessThanOrEqualTo(2 * LIMIT));
    }
  }

  @Test
  void aSingleKeyThatGrowsAmongManyIsSeen() throws IOException {
    PartialTable table = table(true);
    for (long key = 0; key < 1_000; key++) {
      table.add(key, WINDOW, new byte[1], 0);
    }
    int values = 0;
    while (!table.isFull()) {
      table.add(7L, WINDOW, new byte[1000], 0);
      values++;
      assertThat(values * 1000L, lessThan(3 * LIMIT));
    }
  }

  @Test
  void smallAccumulatorsAreKeptUpToTheNumberOfEntries() throws IOException {
    assertThat(fill(table(false), Integer.MAX_VALUE, 8), is(8L << 16));
  }

  /** Accumulators that stay as large as they are may be added to for long. */
  @Test
  void largeAccumulatorsOfFewKeysAreKept() throws IOException {
    PartialTable table = table(false);
    byte[] large = new byte[(int) LIMIT / 10];
    for (int i = 0; i < 1_000_000; i++) {
      table.add((long) i % 5, WINDOW, large, 0);
      assertThat(table.isFull(), is(false));
    }
  }
}
