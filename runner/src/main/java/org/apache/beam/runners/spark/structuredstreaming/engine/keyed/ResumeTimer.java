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

import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.ClockedTimerInternals;
import org.apache.beam.sdk.state.TimeDomain;
import org.joda.time.Instant;

/**
 * The timers that runners-core's {@code ProcessFn} sees: it reads the processing time and sets one
 * timer, for when it is to go on. That timer is kept for {@link #take} and goes no further.
 */
final class ResumeTimer extends ClockedTimerInternals {
  private TimerData set;

  ResumeTimer(StepWatermarks clock) {
    super(clock);
  }

  /** The timer set since the last call, null if none was. */
  TimerData take() {
    TimerData taken = set;
    set = null;
    return taken;
  }

  @Override
  public void setTimer(
      StateNamespace namespace,
      String timerId,
      String timerFamilyId,
      Instant target,
      Instant outputTimestamp,
      TimeDomain timeDomain) {
    set = TimerData.of(timerId, timerFamilyId, namespace, target, outputTimestamp, timeDomain);
  }

  @Override
  @Deprecated
  public void setTimer(TimerData timer) {
    set = timer;
  }

  @Override
  public void deleteTimer(
      StateNamespace namespace, String timerId, String timerFamilyId, TimeDomain timeDomain) {
    throw new UnsupportedOperationException("A splittable DoFn's resumption is never taken back.");
  }

  @Override
  @Deprecated
  public void deleteTimer(StateNamespace namespace, String timerId, String timerFamilyId) {
    throw new UnsupportedOperationException("A splittable DoFn's resumption is never taken back.");
  }

  @Override
  @Deprecated
  public void deleteTimer(TimerData timer) {
    throw new UnsupportedOperationException("A splittable DoFn's resumption is never taken back.");
  }
}
