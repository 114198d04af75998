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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepStatistics;

/**
 * What a keyed step did in one epoch, over all partitions.
 *
 * @param inputWatermarkMillis the least of the partitions
 * @param outputWatermarkMillis the least of the partitions
 * @param rowsIn elements received, before any combining
 * @param lateRows elements dropped, per window, because the window had expired
 * @param stateRows state rows at the epoch's end
 * @param stateBytes bytes of their keys and values
 * @param backlog size of what is left of the restrictions of a splittable DoFn, in the units of its
 *     {@code @GetSize} or of its tracker's progress; -1 of any other step, or where no partition knows it
 * @param timeMillis time spent, added up over the partitions
 */
public record StepProgress(
    String fullName,
    long inputWatermarkMillis,
    long outputWatermarkMillis,
    long rowsIn,
    long rowsOut,
    long lateRows,
    long stateRows,
    long stateBytes,
    long backlog,
    long timeMillis) {

  static StepProgress of(String fullName, List<StepStatistics> partitions) {
    return new StepProgress(
        fullName,
        partitions.stream().mapToLong(StepStatistics::inputWatermarkMillis).min().orElseThrow(),
        partitions.stream().mapToLong(StepStatistics::outputWatermarkMillis).min().orElseThrow(),
        partitions.stream().mapToLong(StepStatistics::rowsIn).sum(),
        partitions.stream().mapToLong(StepStatistics::rowsOut).sum(),
        partitions.stream().mapToLong(StepStatistics::lateRows).sum(),
        partitions.stream().mapToLong(StepStatistics::stateRows).sum(),
        partitions.stream().mapToLong(StepStatistics::stateBytes).sum(),
        backlog(partitions),
        TimeUnit.NANOSECONDS.toMillis(
            partitions.stream().mapToLong(StepStatistics::nanos).sum()));
  }

  /** A partition that has never had a rest may not know whether it would know the size of one. */
  private static long backlog(List<StepStatistics> partitions) {
    return partitions.stream()
        .mapToLong(StepStatistics::backlog)
        .filter(size -> size >= 0)
        .reduce((one, other) -> one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other)
        .orElse(-1);
  }
}
