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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.util.function.Consumer;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.FiredTimer;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepClock;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepTimers;
import org.apache.beam.sdk.state.TimeDomain;

/**
 * Fires what is due of a step's timers, one by one over all keys, until none is: the work of a
 * runner once its watermark has moved.
 *
 * <p>Rules, with the step's times as its clock has them (they do not move meanwhile):
 *
 * <pre>
 * due(timer) = timer.time &lt; time of its domain, or that time is at the end of time
 * next       = the earliest event timer that is due,
 *              else the earliest that is due of both kinds of processing time
 * </pre>
 *
 * <p>A timer is removed before it is fired. What a firing sets, moves or deletes counts at once, so
 * a timer set by one may fire by the same work, and one that it deletes never does.
 */
final class DueTimers implements Work {
  private final StepTimers timers;
  private final StepClock clock;
  private final Consumer<FiredTimer> action;

  /**
   * @param action what firing a timer is; told each timer once
   */
  DueTimers(StepTimers timers, StepClock clock, Consumer<FiredTimer> action) {
    this.timers = timers;
    this.clock = clock;
    this.action = action;
  }

  @Override
  public boolean advance() {
    FiredTimer next = timers.nextDue(TimeDomain.EVENT_TIME, clock.inputWatermark());
    if (next == null) {
      next = nextByProcessingTime();
    }
    if (next == null) {
      return false;
    }
    action.accept(next);
    return true;
  }

  /**
   * When a step has to look for due timers again though its watermark may not move.
   *
   * @return a processing time no later than that of the earliest timer that goes by it, synchronized
   *     or not; {@link Long#MAX_VALUE} if there is none
   */
  static long earliestByProcessingTime(StepTimers timers) {
    return Math.min(
        timers.earliestDue(TimeDomain.PROCESSING_TIME),
        timers.earliestDue(TimeDomain.SYNCHRONIZED_PROCESSING_TIME));
  }

  private FiredTimer nextByProcessingTime() {
    long time = timers.firstDue(TimeDomain.PROCESSING_TIME, clock.processingTime());
    long synchronizedTime =
        timers.firstDue(
            TimeDomain.SYNCHRONIZED_PROCESSING_TIME, clock.synchronizedProcessingTime());
    return synchronizedTime < time
        ? timers.nextDue(
            TimeDomain.SYNCHRONIZED_PROCESSING_TIME, clock.synchronizedProcessingTime())
        : timers.nextDue(TimeDomain.PROCESSING_TIME, clock.processingTime());
  }
}
