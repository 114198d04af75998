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

import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/** A clock that is set by hand and refuses to go back. */
final class TestClock implements StepClock {
  private long inputWatermark = BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis();
  private long processingTime;

  void advanceInputWatermark(long millis) {
    checkNotBack(inputWatermark, millis);
    inputWatermark = millis;
  }

  void advanceProcessingTime(long millis) {
    checkNotBack(processingTime, millis);
    processingTime = millis;
  }

  private static void checkNotBack(long from, long to) {
    if (to < from) {
      throw new IllegalArgumentException("from " + from + " back to " + to);
    }
  }

  @Override
  public long inputWatermark() {
    return inputWatermark;
  }

  @Override
  public long outputWatermark() {
    return inputWatermark;
  }

  @Override
  public long processingTime() {
    return processingTime;
  }

  @Override
  public long synchronizedProcessingTime() {
    return processingTime;
  }
}
