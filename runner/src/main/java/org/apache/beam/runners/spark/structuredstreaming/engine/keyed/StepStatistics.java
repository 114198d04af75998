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

import java.io.Serializable;

/** What one keyed step did in one epoch on one partition. */
public final class StepStatistics implements Serializable {
  private final int stepIndex;
  private long inputWatermarkMillis;
  private long outputWatermarkMillis;
  private long rowsIn;
  private long rowsOut;
  private long lateRows;
  private long stateRows;
  private long stateBytes;
  private long nanos;
  private long earliestProcessingTimerMillis = Long.MAX_VALUE;
  private boolean pending;
  private long backlog = RestBacklog.UNKNOWN;

  StepStatistics(int stepIndex) {
    this.stepIndex = stepIndex;
  }

  void addRowsIn(long count) {
    rowsIn += count;
  }

  void addRowOut() {
    rowsOut++;
  }

  void addRowsOut(long count) {
    rowsOut += count;
  }

  void addLateRows(long count) {
    lateRows += count;
  }

  void setState(long rows, long bytes) {
    stateRows = rows;
    stateBytes = bytes;
  }

  void setWatermarks(long inputMillis, long outputMillis) {
    inputWatermarkMillis = inputMillis;
    outputWatermarkMillis = outputMillis;
  }

  /**
   * Says when the step has to be run again though nothing may come to it.
   *
   * @param millis a processing time no later than that of its earliest timer, {@link
   *     Long#MAX_VALUE} if it has none
   */
  void setEarliestProcessingTimer(long millis) {
    earliestProcessingTimerMillis = millis;
  }

  /**
   * Says how much the step has left to do.
   *
   * @param size in the units of its DoFn, {@link RestBacklog#UNKNOWN} if it is not known
   */
  void setBacklog(long size) {
    backlog = size;
  }

  /** Says that the step has something to do in the next epoch, whatever time that has. */
  void setPending() {
    pending = true;
  }

  /** Adds time spent in the step. */
  public void addNanos(long count) {
    nanos += count;
  }

  /** The step's index in the plan. */
  public int stepIndex() {
    return stepIndex;
  }

  public long inputWatermarkMillis() {
    return inputWatermarkMillis;
  }

  public long outputWatermarkMillis() {
    return outputWatermarkMillis;
  }

  /** Elements received, before any combining. */
  public long rowsIn() {
    return rowsIn;
  }

  public long rowsOut() {
    return rowsOut;
  }

  /** Elements dropped, per window, because their window had expired. */
  public long lateRows() {
    return lateRows;
  }

  /** State rows that exist at the epoch's end. */
  public long stateRows() {
    return stateRows;
  }

  /** Bytes of keys and values of the state rows. */
  public long stateBytes() {
    return stateBytes;
  }

  /**
   * No timer by processing time, synchronized or not, is earlier; {@link Long#MAX_VALUE} if there is
   * none. The step has something to do in an epoch whose processing time is past it.
   */
  public long earliestProcessingTimerMillis() {
    return earliestProcessingTimerMillis;
  }

  /** Whether the step has something to do in the next epoch, whatever its processing time. */
  public boolean hasPending() {
    return pending;
  }

  /** Size of what is left of the restrictions of a splittable DoFn; -1 of any other, and if unknown. */
  public long backlog() {
    return backlog;
  }

  /** Time spent in the step's own work and in what is fused behind it. */
  public long nanos() {
    return nanos;
  }
}
