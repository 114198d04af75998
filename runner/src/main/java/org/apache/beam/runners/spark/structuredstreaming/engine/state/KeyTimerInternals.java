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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import java.util.Objects;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.sdk.state.TimeDomain;
import org.joda.time.Instant;

/**
 * The timers of one key of a step, as Beam sets and deletes them; changes show at once.
 *
 * <p>DoFns tend to set the same timer to the same time with every element. So the timer set last is
 * remembered, and need not be looked for among the rows while it is certain to be set as it was: this
 * object alone sets the DoFn's timers of the key, and {@link StepTimers#removals} tells of any timer
 * that is gone.
 */
final class KeyTimerInternals extends ClockedTimerInternals {
  private final byte[] key;
  private final StepTimers timers;
  private TimerData last;
  private long removals;

  KeyTimerInternals(byte[] key, StepTimers timers, StepClock clock) {
    super(clock);
    this.key = Objects.requireNonNull(key, "key");
    this.timers = Objects.requireNonNull(timers, "timers");
  }

  @Override
  public void setTimer(
      StateNamespace namespace,
      String timerId,
      String timerFamilyId,
      Instant target,
      Instant outputTimestamp,
      TimeDomain timeDomain) {
    if (last != null
        && removals == timers.removals()
        && last.getTimestamp().equals(target)
        && last.getOutputTimestamp().equals(outputTimestamp)
        && last.getDomain() == timeDomain
        && last.getTimerId().equals(timerId)
        && last.getTimerFamilyId().equals(timerFamilyId)
        && last.getNamespace().equals(namespace)) {
      return;
    }
    set(TimerData.of(timerId, timerFamilyId, namespace, target, outputTimestamp, timeDomain));
  }

  private void set(TimerData timer) {
    timers.set(key, timer);
    last = timer;
    removals = timers.removals();
  }

  @Override
  @Deprecated
  public void setTimer(TimerData timerData) {
    set(timerData);
  }

  @Override
  public void deleteTimer(
      StateNamespace namespace, String timerId, String timerFamilyId, TimeDomain timeDomain) {
    timers.delete(key, namespace, timerFamilyId, timerId, timeDomain);
  }

  @Override
  @Deprecated
  public void deleteTimer(StateNamespace namespace, String timerId, String timerFamilyId) {
    for (TimeDomain domain : TimeDomain.values()) {
      timers.delete(key, namespace, timerFamilyId, timerId, domain);
    }
  }

  @Override
  @Deprecated
  public void deleteTimer(TimerData timer) {
    timers.delete(
        key, timer.getNamespace(), timer.getTimerFamilyId(), timer.getTimerId(), timer.getDomain());
  }
}
