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
import org.apache.beam.runners.core.TimerInternals;
import org.joda.time.Instant;

/** The half of a {@link TimerInternals} that tells the time: that of the step. */
public abstract class ClockedTimerInternals implements TimerInternals {
  private final StepClock clock;

  protected ClockedTimerInternals(StepClock clock) {
    this.clock = Objects.requireNonNull(clock, "clock");
  }

  @Override
  public final Instant currentProcessingTime() {
    return Instant.ofEpochMilli(clock.processingTime());
  }

  @Override
  public final Instant currentSynchronizedProcessingTime() {
    return Instant.ofEpochMilli(clock.synchronizedProcessingTime());
  }

  @Override
  public final Instant currentInputWatermarkTime() {
    return Instant.ofEpochMilli(clock.inputWatermark());
  }

  @Override
  public final Instant currentOutputWatermarkTime() {
    return Instant.ofEpochMilli(clock.outputWatermark());
  }
}
