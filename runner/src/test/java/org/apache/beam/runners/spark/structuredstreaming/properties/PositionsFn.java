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
package org.apache.beam.runners.spark.structuredstreaming.properties;

import org.apache.beam.sdk.io.range.OffsetRange;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.splittabledofn.OffsetRangeTracker;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker.IsBounded;
import org.apache.beam.sdk.transforms.splittabledofn.RestrictionTracker.TruncateResult;
import org.apache.beam.sdk.values.CausedByDrain;
import org.joda.time.Duration;

/**
 * Gives {@code element:position} and, where it is told that it is called because of a drain, a {@code
 * +}. It gives one position in each call. Behind position 0 it rests for an hour, so that no test gets
 * past it without a drain; behind others for a moment, so each comes in an epoch of its own.
 */
abstract class PositionsFn extends DoFn<String, String> {
  private static final Duration HOUR = Duration.standardHours(1);

  private final long end;

  /**
   * @param end of the restriction of every element; {@link Long#MAX_VALUE} for one that has none
   */
  PositionsFn(long end) {
    this.end = end;
  }

  /** Has no end of its own, and is dropped by a drain. */
  @UnboundedPerElement
  static class Endless extends PositionsFn {
    Endless() {
      super(Long.MAX_VALUE);
    }
  }

  /** Has no end of its own; a drain lets it have three positions more. */
  static final class Truncated extends Endless {
    @TruncateRestriction
    @SuppressWarnings("unchecked") // Beam's factory is without types
    public TruncateResult<OffsetRange> truncate(@Restriction OffsetRange range) {
      return TruncateResult.of(new OffsetRange(range.getFrom(), range.getFrom() + 3));
    }
  }

  /** Has four positions. */
  @BoundedPerElement
  static final class Bounded extends PositionsFn {
    Bounded() {
      super(4);
    }
  }

  /** A range without an end is unbounded. */
  private static final class Tracker extends OffsetRangeTracker {
    Tracker(OffsetRange range) {
      super(range);
    }

    @Override
    public IsBounded isBounded() {
      return range.getTo() == Long.MAX_VALUE ? IsBounded.UNBOUNDED : IsBounded.BOUNDED;
    }
  }

  @GetInitialRestriction
  public OffsetRange range() {
    return new OffsetRange(0, end);
  }

  @NewTracker
  public OffsetRangeTracker tracker(@Restriction OffsetRange range) {
    return new Tracker(range);
  }

  @ProcessElement
  public ProcessContinuation process(
      ProcessContext context,
      @Element String element,
      RestrictionTracker<OffsetRange, Long> tracker,
      OutputReceiver<String> out) {
    OffsetRange range = tracker.currentRestriction();
    if (!tracker.tryClaim(range.getFrom())) {
      return ProcessContinuation.stop();
    }
    boolean drained = context.causedByDrain() == CausedByDrain.CAUSED_BY_DRAIN;
    out.output(element + ":" + range.getFrom() + (drained ? "+" : ""));
    boolean waits = range.getFrom() == 0 && range.getTo() == end;
    return ProcessContinuation.resume().withResumeDelay(waits ? HOUR : Duration.millis(1));
  }
}
