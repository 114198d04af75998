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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Records that follow from a seed: those of a split come a second of event time apart, up to {@link
 * #DISORDER_MILLIS} late.
 *
 * @param repeated whether each record comes once more, {@link #REPEATED_BEHIND} records later
 */
record SeededRecords(String name, long seed, int splits, int perSplit, boolean repeated)
    implements Serializable {
  private static final int KEYS = 5;
  private static final int VALUES = 100;
  private static final int REPEATED_BEHIND = 3;
  private static final int STEP_MILLIS = 1000;
  private static final int DISORDER_MILLIS = 4000;

  /** A record: its id, and what the pipelines see of it. */
  record Entry(String id, String key, long value, long millis) {}

  /** How many records a split gives, repetitions included. */
  int positions() {
    return repeated ? 2 * perSplit : perSplit;
  }

  /** The record at a position of what a split gives. */
  Entry at(int split, int position) {
    if (!repeated) {
      return record(split, position);
    }
    int index = position / 2;
    return record(split, position % 2 == 0 ? index : Math.max(0, index - REPEATED_BEHIND));
  }

  /** No record from the position on has an earlier event time. */
  long watermark(int position) {
    int index = repeated ? Math.max(0, position / 2 - REPEATED_BEHIND) : position;
    return (long) index * STEP_MILLIS;
  }

  /** Every record once. */
  List<Entry> all() {
    List<Entry> all = new ArrayList<>();
    for (int split = 0; split < splits; split++) {
      for (int index = 0; index < perSplit; index++) {
        all.add(record(split, index));
      }
    }
    return all;
  }

  private Entry record(int split, int index) {
    Random random = new Random(seed + 31L * name.hashCode() + 1_000_003L * split + 7919L * index);
    // The first numbers of generators with seeds that are close are close.
    random.nextInt();
    return new Entry(
        name + "-" + split + "-" + index,
        "k" + random.nextInt(KEYS),
        random.nextInt(VALUES),
        (long) index * STEP_MILLIS + random.nextInt(DISORDER_MILLIS));
  }
}
