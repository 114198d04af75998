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

import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.joda.time.Duration;

/**
 * The sum of the values of each session, which ends with a gap of ten seconds. For five seconds of event
 * time 100 of 2,000 users are active, 250 records each; then come the next 100.
 */
final class UserSessions implements Workload {
  private static final long USERS = 2000;
  private static final int ACTIVE = 100;
  private static final long TURN_MILLIS = 5000;
  private static final long GAP_MILLIS = 10_000;

  private final Visits generator = new Visits(new KeyedRecords(ACTIVE));

  /** Records of the users whose turn it is. */
  record Visits(KeyedRecords active) implements Generator<KV<Long, Long>> {
    /** First of the users who are active at the time of a record. */
    long first(long number) {
      return millis(number) / TURN_MILLIS * ACTIVE % USERS;
    }

    @Override
    public KV<Long, Long> record(long number) {
      return KV.of(first(number) + active.key(number), active.value(number));
    }

    @Override
    public Coder<KV<Long, Long>> coder() {
      return active.coder();
    }
  }

  @Override
  public void build(Pipeline pipeline, long records) {
    pipeline
        .apply("Read", Input.STREAM.read(generator, records))
        .apply("Window", Window.into(Sessions.withGapDuration(Duration.millis(GAP_MILLIS))))
        .apply("Sum", Sum.longsPerKey())
        .apply("Results", ParDo.of(new Results.Sink()));
  }

  @Override
  public Totals expected(long records) {
    Results.Expected expected = new Results.Expected();
    long[] sums = new long[ACTIVE];
    long[] last = new long[ACTIVE];
    for (long number = 0; number < records; number++) {
      int user = (int) generator.active().key(number);
      sums[user] += generator.active().value(number);
      last[user] = generator.millis(number) + 1;
      if (number == records - 1 || generator.first(number + 1) != generator.first(number)) {
        for (int i = 0; i < ACTIVE; i++) {
          if (last[i] > 0) {
            expected.add(generator.first(number) + i, last[i] - 1 + GAP_MILLIS - 1, sums[i]);
          }
          sums[i] = 0;
          last[i] = 0;
        }
      }
    }
    return expected.totals();
  }
}
