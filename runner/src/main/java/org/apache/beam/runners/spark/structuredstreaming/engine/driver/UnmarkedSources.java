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

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamSourceCheckpoint;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.MarkRecord;
import org.apache.beam.runners.spark.structuredstreaming.translation.Plan;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.spark.util.SerializableConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which sources of a pipeline leave no mark to go on from. One that is restarted reads from its
 * beginning again, into state that has what it gave before. That is the user's to order, and not for
 * a restart that the user has not asked for.
 *
 * <ul>
 *   <li>A source without a mark coder never leaves one: known before it is read.
 *   <li>A reader may return null for a mark: seen from the durable marks of its splits.
 * </ul>
 *
 * <p>A split that has come to the end of time is not read again and needs no mark.
 */
final class UnmarkedSources {
  private static final Logger LOG = LoggerFactory.getLogger(UnmarkedSources.class);

  private final List<ReadStep> sources;
  private final String checkpointLocation;
  private final SerializableConfiguration hadoopConf;

  UnmarkedSources(Plan plan, String checkpointLocation, SerializableConfiguration hadoopConf) {
    this.sources = plan.sources();
    this.checkpointLocation = checkpointLocation;
    this.hadoopConf = hadoopConf;
  }

  /** The full names of the sources that have no mark coder. */
  List<String> withoutMarkCoder() {
    return sources.stream()
        .filter(source -> source.markCoder() == null)
        .map(ReadStep::fullName)
        .toList();
  }

  /**
   * Why the runner must not restart the query by itself.
   *
   * @param firstEpoch the first epoch since the user's start: nothing before it is repeated by more
   *     than that start
   * @param nextEpoch the epoch that a restart would begin with
   * @return the reason, null if it may restart
   */
  String reasonAgainstRestart(long firstEpoch, long nextEpoch) {
    List<String> names = new ArrayList<>();
    for (ReadStep source : sources) {
      boolean stops =
          source.markCoder() == null
              ? !isFinished(source, nextEpoch)
              : (nextEpoch > firstEpoch && lacksMark(source, nextEpoch));
      if (stops) {
        names.add("'" + source.fullName() + "'");
      }
    }
    return names.isEmpty()
        ? null
        : "The query was not restarted, because " + String.join(", ", names)
            + (names.size() == 1 ? " has" : " have")
            + " no checkpoint mark to go on from (no mark coder, or a null mark): read from the"
            + " beginning again, elements would be doubled in the state that is kept. Start the"
            + " pipeline again for that, or anew with another --checkpointDir.";
  }

  private boolean isFinished(ReadStep source, long epoch) {
    return marks(source, epoch).stream().allMatch(mark -> mark != null && mark.isFinished());
  }

  private boolean lacksMark(ReadStep source, long epoch) {
    return marks(source, epoch).stream()
        .anyMatch(
            mark ->
                mark != null && !mark.isFinished() && mark.kind() == MarkRecord.Kind.NOT_STORED);
  }

  /** The marks of a source's splits, null where there is none. A restart names what is damaged. */
  private List<MarkRecord> marks(ReadStep source, long epoch) {
    BeamSourceCheckpoint checkpoint =
        new BeamSourceCheckpoint(
            checkpointLocation, source.stableId(), source.fullName(), hadoopConf);
    List<MarkRecord> marks = new ArrayList<>();
    try {
      List<byte[]> splits = checkpoint.readSplits();
      int count = splits == null ? 1 : splits.size();
      for (int split = 0; split < count; split++) {
        marks.add(checkpoint.readMark(split, epoch));
      }
    } catch (IOException e) {
      LOG.warn("The durable marks of {} at epoch {} cannot be read", source.fullName(), epoch, e);
    }
    return marks;
  }
}
