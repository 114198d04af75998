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
package org.apache.beam.runners.spark.structuredstreaming.benchmarks;

import java.util.concurrent.atomic.LongAdder;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.KV;

/** The results of the pipeline that runs in this JVM, of which every runner keeps its workers here. */
public final class Results {
  private static final LongAdder COUNT = new LongAdder();
  private static final LongAdder CHECKSUM = new LongAdder();

  private Results() {}

  /** Takes the results of a pipeline. */
  static final class Sink extends DoFn<KV<Long, Long>, Void> {
    @ProcessElement
    public void process(@Element KV<Long, Long> result, BoundedWindow window) {
      add(result.getKey(), window.maxTimestamp().getMillis(), result.getValue());
    }
  }

  /** Adds up the results that a workload should have. */
  static final class Expected {
    private long count;
    private long checksum;

    /** A result in the window whose last millisecond is given. */
    void add(long key, long windowMillis, long value) {
      count++;
      checksum += checksum(key, windowMillis, value);
    }

    Totals totals() {
      return new Totals(count, checksum);
    }
  }

  /** Takes a result in the window whose last millisecond is given. */
  public static void add(long key, long windowMillis, long value) {
    CHECKSUM.add(checksum(key, windowMillis, value));
    COUNT.increment();
  }

  static void reset() {
    COUNT.reset();
    CHECKSUM.reset();
  }

  static Totals totals() {
    return new Totals(COUNT.sum(), CHECKSUM.sum());
  }

  private static long checksum(long key, long windowMillis, long value) {
    return mix(key + mix(windowMillis + mix(value)));
  }

  /** Spreads a number over all of them, one to one: the finalizer of SplitMix64. */
  static long mix(long number) {
    long mixed = number + 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}
