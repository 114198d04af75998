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

import org.apache.spark.sql.connector.read.streaming.Offset;

/** A source's offset: the number of the epoch that starts there. Its json is that number. */
final class EpochOffset extends Offset {
  private final long epoch;

  EpochOffset(long epoch) {
    if (epoch < 0) {
      throw new IllegalArgumentException("An epoch must not be negative: " + epoch);
    }
    this.epoch = epoch;
  }

  /** Reads back what {@link #json()} wrote into Spark's offset log. */
  static EpochOffset parse(String json, String fullName) {
    try {
      return new EpochOffset(Long.parseLong(json.trim()));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "The offset log holds '" + json + "' for " + fullName + " where an epoch number is"
              + " expected: it is damaged or was written by something else. " + DurableFile.WHAT_TO_DO,
          e);
    }
  }

  long epoch() {
    return epoch;
  }

  @Override
  public String json() {
    return Long.toString(epoch);
  }
}
