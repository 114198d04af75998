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

import org.apache.beam.runners.core.TimerInternals.TimerData;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepTimers;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * Puts the end of time off for a step while what it has of timers by processing time may still fire.
 * A source that ends gives its last elements and the end of time in one epoch, in which processing
 * time stands still; without this a pane or a timer by processing time could never come between the
 * two, however short its delay.
 *
 * <p>For an epoch {@code e} in which the end of time is heard, with timers by processing time that
 * is not synchronized (one that is waits for other steps, not for the wall's time):
 *
 * <pre>
 * fired(e) = a timer fired at the start of e
 * set(e)   = elements were received in e, and there is a timer
 * the end of time is put off iff (fired(e) or set(e)) and it was put off fewer than 2 times
 * </pre>
 *
 * <p>The first time lets a timer that is due by the next epoch fire, the second lets what that one
 * output go in an epoch of its own. So a timer that is set anew with every firing holds nothing for
 * ever, and one that is due later than the next epoch holds nothing but one epoch. All this comes
 * from the state and the epoch's time alone: an epoch that is run again decides the same.
 *
 * <p>A pipeline whose time is that of TestStreams puts nothing off: their events come in epochs of
 * their own.
 */
final class EndOfTimeGate {
  private static final int MOST_TIMES = 2;
  private static final long END_OF_TIME = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();

  private final StepTimers timers;
  private final StepWatermarks watermarks;
  private final StepStatistics statistics;
  private final boolean open;
  private boolean fired;

  /**
   * @param drivenByStreams whether the epoch's processing time is that of TestStreams
   */
  EndOfTimeGate(
      StepTimers timers,
      StepWatermarks watermarks,
      StepStatistics statistics,
      boolean drivenByStreams) {
    this.timers = timers;
    this.watermarks = watermarks;
    this.statistics = statistics;
    this.open = drivenByStreams;
  }

  /** Takes note of a timer that fires. */
  void firing(TimerData timer) {
    fired |= timer.getDomain() == TimeDomain.PROCESSING_TIME;
  }

  /**
   * Moves the step's input watermark, once in an epoch, behind its elements. If the end of time is
   * put off, the step is run again in the next epoch.
   */
  void advanceInput(long watermarkMillis) {
    if (watermarkMillis >= END_OF_TIME && isToWait()) {
      watermarks.putOffEndOfTime();
      statistics.setPending();
    } else {
      watermarks.advanceInput(watermarkMillis);
    }
  }

  private boolean isToWait() {
    return !open
        && watermarks.inputWatermark() < END_OF_TIME
        && watermarks.timesPutOff() < MOST_TIMES
        && (fired
            || (statistics.rowsIn() > 0
                && timers.earliestDue(TimeDomain.PROCESSING_TIME) != Long.MAX_VALUE));
  }
}
