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

/**
 * The times a step in one partition goes by, in millis since the epoch. Read by its timer internals
 * on the task's thread; none of them ever goes back.
 */
public interface StepClock {
  /** The input watermark that elements and timers are held against now. */
  long inputWatermark();

  /** The output watermark, never ahead of the input watermark. */
  long outputWatermark();

  long processingTime();

  long synchronizedProcessingTime();
}
