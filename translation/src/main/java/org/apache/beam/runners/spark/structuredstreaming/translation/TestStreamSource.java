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

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CoderException;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.testing.TestStream.Event;
import org.apache.beam.sdk.testing.TestStream.ProcessingTimeEvent;
import org.apache.beam.sdk.testing.TestStream.TestStreamCoder;
import org.apache.beam.sdk.util.CoderUtils;

/**
 * Reads a {@link TestStream}: one split, one event an epoch.
 *
 * <p>With {@code period} the number of epochs after which whatever an event caused has come to rest,
 * event {@code i} of {@code n} comes in epoch {@code i * period}, and no other epoch has one. From
 * epoch {@code n * period} on the stream is at its end and the watermark at the end of time, if the
 * last event has not brought it there.
 *
 * <p>A reader counts epochs by the marks that are taken of it, one an epoch: so it must be read to
 * where it has nothing more in every epoch, under no limit of records or time.
 */
public final class TestStreamSource<T> extends UnboundedSource<T, TestStreamMark> {
  private final Coder<T> coder;
  private final byte[] encodedEvents;
  private final List<Long> advanceMillis;
  private final int period;

  private TestStreamSource(
      Coder<T> coder, byte[] encodedEvents, List<Long> advanceMillis, int period) {
    this.coder = Objects.requireNonNull(coder, "coder");
    this.encodedEvents = encodedEvents;
    this.advanceMillis = List.copyOf(advanceMillis);
    this.period = period;
  }

  /**
   * The source of a stream, an event in every epoch.
   *
   * @throws IllegalArgumentException if an element cannot be encoded by the stream's coder
   */
  public static <T> TestStreamSource<T> of(TestStream<T> stream) {
    List<Long> advanceMillis = new ArrayList<>();
    for (Event<T> event : stream.getEvents()) {
      advanceMillis.add(
          event instanceof ProcessingTimeEvent<T> time
              ? time.getProcessingTimeAdvance().getMillis()
              : 0L);
    }
    try {
      byte[] encoded =
          CoderUtils.encodeToByteArray(TestStreamCoder.of(stream.getValueCoder()), stream);
      return new TestStreamSource<>(stream.getValueCoder(), encoded, advanceMillis, 1);
    } catch (CoderException e) {
      throw new IllegalArgumentException(
          stream.getValueCoder() + " cannot encode the elements of the TestStream", e);
    }
  }

  /** The same stream with an event only in every {@code epochs}th epoch. */
  TestStreamSource<T> withPeriod(int epochs) {
    return new TestStreamSource<>(coder, encodedEvents, advanceMillis, epochs);
  }

  /** The first epoch in which the stream is at its end. */
  public long endEpoch() {
    return (long) advanceMillis.size() * period;
  }

  /** By how much the events of all epochs up to this one advance processing time, in millis. */
  public long advanceMillisUpTo(long epoch) {
    long events = Math.min(advanceMillis.size(), epoch / period + 1);
    return advanceMillis.stream().limit(events).mapToLong(Long::longValue).sum();
  }

  /** What tells streams of other events apart, the same in every JVM. */
  String fingerprint() {
    String text = UUID.nameUUIDFromBytes(encodedEvents).toString();
    return advanceMillis.size() + " events " + text + " every " + period;
  }

  List<Event<T>> decodeEvents() {
    try {
      return CoderUtils.decodeFromByteArray(TestStreamCoder.of(coder), encodedEvents).getEvents();
    } catch (CoderException e) {
      throw new IllegalStateException(
          coder + " cannot decode the elements of a TestStream that it has encoded", e);
    }
  }

  /** The index of the event that an epoch begins with, -1 if it begins with none. */
  int eventOf(long epoch) {
    return epoch % period == 0 && epoch < endEpoch() ? (int) (epoch / period) : -1;
  }

  @Override
  public List<TestStreamSource<T>> split(int desiredNumSplits, PipelineOptions options) {
    return List.of(this);
  }

  @Override
  public UnboundedReader<T> createReader(PipelineOptions options, TestStreamMark mark) {
    return new TestStreamReader<>(this, mark == null ? 0 : mark.epochs());
  }

  @Override
  public Coder<TestStreamMark> getCheckpointMarkCoder() {
    return TestStreamMark.MarkCoder.INSTANCE;
  }

  @Override
  public Coder<T> getOutputCoder() {
    return coder;
  }

  @Override
  public String toString() {
    return "TestStreamSource";
  }
}
