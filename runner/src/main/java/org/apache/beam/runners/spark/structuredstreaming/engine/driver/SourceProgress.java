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
import java.util.function.ToLongFunction;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.SourceReport;

/**
 * What a source gave in one epoch, over all splits.
 *
 * @param watermarkMillis the least of the splits
 * @param minEventTimeMillis meaningless without rows, as the other event times
 * @param backlogBytes -1 if a split does not know its own
 */
public record SourceProgress(
    long watermarkMillis,
    long rows,
    long minEventTimeMillis,
    long maxEventTimeMillis,
    long averageEventTimeMillis,
    long backlogBytes) {

  static SourceProgress of(List<SourceReport> splits) {
    List<SourceReport> read = splits.stream().filter(split -> split.rows() > 0).toList();
    long rows = read.stream().mapToLong(SourceReport::rows).sum();
    double average =
        read.stream()
            .mapToDouble(split -> (double) split.averageEventTimeMillis() * split.rows() / rows)
            .sum();
    boolean backlogKnown = splits.stream().allMatch(split -> split.backlogBytes() >= 0);
    return new SourceProgress(
        splits.stream().mapToLong(SourceReport::watermarkMillis).min().orElseThrow(),
        rows,
        read.stream().mapToLong(SourceReport::minEventTimeMillis).min().orElse(0),
        read.stream().mapToLong(SourceReport::maxEventTimeMillis).max().orElse(0),
        (long) average,
        backlogKnown ? sum(splits, SourceReport::backlogBytes) : -1);
  }

  private static long sum(List<SourceReport> splits, ToLongFunction<SourceReport> number) {
    return splits.stream().mapToLong(number).sum();
  }
}
