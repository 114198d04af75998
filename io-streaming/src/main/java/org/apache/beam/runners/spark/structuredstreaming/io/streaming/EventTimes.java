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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import java.math.BigInteger;

/** Count, extremes and average of the event times that a task reads. Exact; one thread. */
final class EventTimes {
  /** The sum is kept in two parts of its addends, as event times reach far beyond any calendar. */
  private static final int LOW_BITS = 20;

  private long count;
  private long min = Long.MAX_VALUE;
  private long max = Long.MIN_VALUE;
  private long highSum;
  private long lowSum;

  void add(long millis) {
    count++;
    min = Math.min(min, millis);
    max = Math.max(max, millis);
    highSum += millis >> LOW_BITS;
    lowSum += millis & ((1L << LOW_BITS) - 1);
  }

  long count() {
    return count;
  }

  long minMillis() {
    return min;
  }

  long maxMillis() {
    return max;
  }

  long averageMillis() {
    if (count == 0) {
      return 0;
    }
    return BigInteger.valueOf(highSum)
        .shiftLeft(LOW_BITS)
        .add(BigInteger.valueOf(lowSum))
        .divide(BigInteger.valueOf(count))
        .longValueExact();
  }
}
