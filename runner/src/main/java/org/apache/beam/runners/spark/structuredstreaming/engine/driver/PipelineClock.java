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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.TestStreamSource;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * The processing time of a pipeline, in millis: one instant for each epoch, the same in all its
 * tasks. Made for one start of the query, used by its thread.
 *
 * <pre>
 * logged(e) = when Spark entered epoch e into its offset log
 * time(e)   = TIMESTAMP_MIN_VALUE + advances of all events up to e   while a TestStream has events
 *           = max(time(e - 1), logged(e - 1), logged(e))             else
 * </pre>
 *
 * <p>So an epoch that is run again has the time it had, and none has an earlier one than the epoch
 * before it, also over a restart. Behind the end of TestStreams time is that of the wall: what still
 * waits for a processing time of theirs is due then, and nothing waits for ever.
 */
final class PipelineClock {
  private static final long FIRST_MILLIS = BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis();

  private final List<TestStreamSource<?>> streams;
  private final long endOfStreams;
  private long lastMillis = Long.MIN_VALUE;

  PipelineClock(Plan plan) {
    this.streams = plan.testStreams();
    this.endOfStreams =
        streams.stream().mapToLong(TestStreamSource::endEpoch).max().orElse(0);
  }

  /** Whether a TestStream of the pipeline has an event in this epoch or a later one. */
  boolean isDrivenByStreams(long epoch) {
    return epoch < endOfStreams;
  }

  /**
   * The processing time of an epoch that begins.
   *
   * @param previousLoggedMillis when the epoch before it was logged, {@link Long#MIN_VALUE} if there
   *     is none
   * @param loggedMillis when the epoch was logged
   */
  long timeOf(long epoch, long previousLoggedMillis, long loggedMillis) {
    lastMillis =
        isDrivenByStreams(epoch)
            ? FIRST_MILLIS
                + streams.stream().mapToLong(stream -> stream.advanceMillisUpTo(epoch)).sum()
            : Math.max(lastMillis, Math.max(previousLoggedMillis, loggedMillis));
    return lastMillis;
  }

  /**
   * How long it is until an epoch that begins has a time past {@code millis}; zero or less if it
   * would have now.
   *
   * @param epoch the epoch that is next
   */
  long millisUntilPast(long epoch, long millis) {
    if (isDrivenByStreams(epoch)) {
      return 0;
    }
    long now = Math.max(lastMillis, System.currentTimeMillis());
    return millis < now ? 0 : millis - now + 1;
  }
}
