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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import org.apache.beam.sdk.io.UnboundedSource.CheckpointMark;

/**
 * How far a split has been replayed. Files keep what has been read, so there is nothing to finalize.
 */
final class ReplayMark implements CheckpointMark {
  private final int segment;
  private final long position;
  private final long line;
  private final double replayed;

  /**
   * @param segment which of the split's segments the next line lies in; their number after the last
   * @param position offset in bytes in that segment's file at which the next line starts
   * @param line number of the next line, over all the source's lines
   * @param replayed lines that were due when the mark was taken
   */
  ReplayMark(int segment, long position, long line, double replayed) {
    this.segment = segment;
    this.position = position;
    this.line = line;
    this.replayed = replayed;
  }

  int segment() {
    return segment;
  }

  long position() {
    return position;
  }

  long line() {
    return line;
  }

  double replayed() {
    return replayed;
  }

  @Override
  public void finalizeCheckpoint() {}

  @Override
  public String toString() {
    return "line " + line + " at byte " + position + " of segment " + segment;
  }
}
