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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.testing.TestStream.ElementEvent;
import org.apache.beam.sdk.testing.TestStream.Event;
import org.apache.beam.sdk.testing.TestStream.WatermarkEvent;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.TimestampedValue;
import org.joda.time.Instant;

/**
 * Reads a {@link TestStreamSource}. The event of an epoch is taken up when the first record of the
 * epoch is asked for; the epoch ends when the mark is taken.
 */
final class TestStreamReader<T> extends UnboundedReader<T> {
  private final TestStreamSource<T> source;
  private final List<Event<T>> events;
  private long epoch;
  private boolean inEpoch;
  private Instant watermark = BoundedWindow.TIMESTAMP_MIN_VALUE;
  private Iterator<TimestampedValue<T>> elements = List.<TimestampedValue<T>>of().iterator();
  private TimestampedValue<T> current;

  /**
   * @param epoch the epoch that is read first
   */
  TestStreamReader(TestStreamSource<T> source, long epoch) {
    this.source = source;
    this.events = source.decodeEvents();
    this.epoch = epoch;
    for (long earlier = 0; earlier < Math.min(epoch, source.endEpoch()); earlier++) {
      takeWatermark(earlier);
    }
  }

  @Override
  public boolean start() {
    return advance();
  }

  @Override
  public boolean advance() {
    if (!inEpoch) {
      inEpoch = true;
      takeWatermark(epoch);
      int index = source.eventOf(epoch);
      if (index >= 0 && events.get(index) instanceof ElementEvent<T> event) {
        elements = event.getElements().iterator();
      }
    }
    current = elements.hasNext() ? elements.next() : null;
    return current != null;
  }

  private void takeWatermark(long ofEpoch) {
    int index = source.eventOf(ofEpoch);
    if (ofEpoch >= source.endEpoch()) {
      watermark = BoundedWindow.TIMESTAMP_MAX_VALUE;
    } else if (index >= 0 && events.get(index) instanceof WatermarkEvent<T> event) {
      watermark = event.getWatermark();
    }
  }

  @Override
  public T getCurrent() throws NoSuchElementException {
    return requireCurrent().getValue();
  }

  @Override
  public Instant getCurrentTimestamp() throws NoSuchElementException {
    return requireCurrent().getTimestamp();
  }

  private TimestampedValue<T> requireCurrent() {
    if (current == null) {
      throw new NoSuchElementException(source + ": there is no current element");
    }
    return current;
  }

  @Override
  public Instant getWatermark() {
    return watermark;
  }

  @Override
  public TestStreamMark getCheckpointMark() {
    epoch++;
    inEpoch = false;
    return new TestStreamMark(epoch);
  }

  @Override
  public TestStreamSource<T> getCurrentSource() {
    return source;
  }

  @Override
  public void close() {}
}
