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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.testing.TestStream.ElementEvent;
import org.apache.beam.sdk.testing.TestStream.Event;
import org.apache.beam.sdk.testing.TestStream.ProcessingTimeEvent;
import org.apache.beam.sdk.testing.TestStream.WatermarkEvent;
import org.apache.beam.sdk.values.TimestampedValue;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** Writes a TestStream, in seconds of event time and of processing time. */
public final class Events {
  private final List<Event<String>> events = new ArrayList<>();
  private final List<TimestampedValue<String>> together = new ArrayList<>();

  /** A stream without an event. */
  public static Events stream() {
    return new Events();
  }

  /** Gives an element, in one event with those that were given just before it. */
  public Events at(double second, String value) {
    together.add(TimestampedValue.of(value, Instant.ofEpochMilli(millis(second))));
    return this;
  }

  /** Ends the event that the last elements belong to, if there are any. */
  public Events then() {
    if (!together.isEmpty()) {
      events.add(ElementEvent.add(List.copyOf(together)));
      together.clear();
    }
    return this;
  }

  /** Moves the watermark. */
  public Events watermark(double second) {
    then();
    events.add(WatermarkEvent.advanceTo(Instant.ofEpochMilli(millis(second))));
    return this;
  }

  /** Lets processing time pass. */
  public Events pass(double seconds) {
    then();
    events.add(ProcessingTimeEvent.advanceBy(Duration.millis(millis(seconds))));
    return this;
  }

  /** Moves the watermark to the end of time. */
  public TestStream<String> end() {
    then();
    Event<String> last =
        TestStream.create(StringUtf8Coder.of()).advanceWatermarkToInfinity().getEvents().get(0);
    events.add(last);
    return TestStream.fromRawEvents(StringUtf8Coder.of(), List.copyOf(events));
  }

  private static long millis(double second) {
    return Math.round(second * 1000);
  }
}
