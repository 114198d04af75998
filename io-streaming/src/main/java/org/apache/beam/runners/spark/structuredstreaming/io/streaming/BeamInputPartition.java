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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import org.apache.spark.sql.connector.read.InputPartition;

/**
 * One split in one epoch. Small, as one goes with every task: the split itself comes with the
 * source's broadcast.
 */
public final class BeamInputPartition implements InputPartition {
  private final int splitId;
  private final long epoch;
  private final boolean drained;
  private final double readShare;
  private final String[] preferredLocations;

  /**
   * @param drained whether nothing is read any more, as the source is drained
   * @param readShare see {@link EpochGate#readShare}
   */
  BeamInputPartition(
      int splitId, long epoch, boolean drained, double readShare, String[] preferredLocations) {
    this.splitId = splitId;
    this.epoch = epoch;
    this.drained = drained;
    this.readShare = readShare;
    this.preferredLocations = preferredLocations;
  }

  /** Position of the split among the source's splits, from 0. */
  public int splitId() {
    return splitId;
  }

  /** The epoch to read. */
  public long epoch() {
    return epoch;
  }

  /** Whether the split comes to its end of time where it stands. */
  boolean isDrained() {
    return drained;
  }

  /** How much of the time limit the split may use. */
  double readShare() {
    return readShare;
  }

  /** The executor that holds the split's reader, as {@code executor_<host>_<id>}, or none. */
  @Override
  public String[] preferredLocations() {
    return preferredLocations.clone();
  }

  @Override
  public String toString() {
    return "split " + splitId + " in epoch " + epoch;
  }
}
