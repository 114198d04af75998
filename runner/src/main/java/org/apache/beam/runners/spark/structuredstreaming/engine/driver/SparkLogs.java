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
import java.io.UncheckedIOException;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.DurableFile;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.execution.streaming.CommitLog;
import org.apache.spark.sql.execution.streaming.OffsetSeq;
import org.apache.spark.sql.execution.streaming.OffsetSeqLog;
import org.apache.spark.sql.execution.streaming.StreamMetadata;
import scala.Option;
import scala.collection.JavaConverters;

/**
 * The logs that Spark keeps in a checkpoint, checked before a query is started with them: Spark itself
 * names no file when one is damaged, and takes a checkpoint without offsets for a new one.
 *
 * <p>Spark writes {@code offsets/e} before epoch {@code e} runs and {@code commits/e} when it is
 * done. So with {@code o} and {@code c} for the last entries, -1 for none:
 *
 * <pre>
 * o - 1 <= c <= o
 * offsets/e says of every source that the epoch ends at e + 1
 * o = -1 only if no source has stored anything
 * </pre>
 *
 * <p>Of the entries before {@code o - 1} Spark reads none. What was deleted in step from both logs
 * cannot be told from epochs that have not been run.
 */
final class SparkLogs {
  private static final Pattern EPOCH = Pattern.compile("[0-9]+");

  private final Path metadata;
  private final Path offsetsDirectory;
  private final Path commitsDirectory;
  private final SparkSession session;
  private final Configuration hadoopConf;

  SparkLogs(Path checkpoint, SparkSession session, Configuration hadoopConf) {
    this.metadata = new Path(checkpoint, "metadata");
    this.offsetsDirectory = new Path(checkpoint, "offsets");
    this.commitsDirectory = new Path(checkpoint, "commits");
    this.session = session;
    this.hadoopConf = hadoopConf;
  }

  /** The last epoch that Spark has committed, -1 if there is none. */
  long lastCommittedEpoch() {
    return latest(new CommitLog(session, commitsDirectory.toString()).getLatestBatchId());
  }

  /**
   * Checks the logs.
   *
   * @param sourcesBegan whether a source has stored anything in the checkpoint
   * @return the last committed epoch, -1 if there is none
   * @throws IllegalStateException naming the file that is damaged or missing, and what to do
   */
  long check(boolean sourcesBegan) {
    read(metadata, this::checkMetadata);
    refuseDirectories(offsetsDirectory);
    refuseDirectories(commitsDirectory);
    OffsetSeqLog offsets = new OffsetSeqLog(session, offsetsDirectory.toString());
    CommitLog commits = new CommitLog(session, commitsDirectory.toString());
    long lastStarted = latest(offsets.getLatestBatchId());
    long lastCommitted = latest(commits.getLatestBatchId());
    if (lastCommitted > lastStarted) {
      throw missing(
          new Path(offsetsDirectory, Long.toString(lastCommitted)),
          new Path(commitsDirectory, Long.toString(lastCommitted)) + " is there");
    }
    if (lastStarted < 0 && sourcesBegan) {
      throw missing(new Path(offsetsDirectory, "0"), "sources have been read");
    }
    if (lastCommitted < lastStarted - 1) {
      throw missing(
          new Path(commitsDirectory, Long.toString(lastStarted - 1)),
          new Path(offsetsDirectory, Long.toString(lastStarted)) + " is there");
    }
    for (long epoch = Math.max(0, lastStarted - 1); epoch <= lastStarted; epoch++) {
      checkOffsets(offsets, epoch);
    }
    if (lastCommitted >= 0) {
      read(new Path(commitsDirectory, Long.toString(lastCommitted)), () -> commits.get(lastCommitted));
    }
    return lastCommitted;
  }

  /** Spark reads the query's id as text and takes it for a UUID when the query is made. */
  private Option<StreamMetadata> checkMetadata() {
    Option<StreamMetadata> stored = StreamMetadata.read(metadata, hadoopConf);
    if (stored.isDefined()) {
      String id = stored.get().id();
      if (!UUID.fromString(id).toString().equals(id)) {
        throw new IllegalArgumentException("Invalid UUID string: " + id);
      }
    }
    return stored;
  }

  /** Spark sees no directories when it lists a log, and takes one in its way for another query's entry. */
  private void refuseDirectories(Path log) {
    List<FileStatus> entries =
        read(
            log,
            () -> {
              try {
                FileSystem files = log.getFileSystem(hadoopConf);
                return files.exists(log) ? List.of(files.listStatus(log)) : List.of();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    for (FileStatus entry : entries) {
      if (entry.getPath().equals(log)) {
        throw damaged(log, "it is a file and no directory", null);
      }
      if (entry.isDirectory() && EPOCH.matcher(entry.getPath().getName()).matches()) {
        throw damaged(entry.getPath(), "it is a directory and no file", null);
      }
    }
  }

  private void checkOffsets(OffsetSeqLog log, long epoch) {
    Path file = new Path(offsetsDirectory, Long.toString(epoch));
    Option<OffsetSeq> entry = read(file, () -> log.get(epoch));
    if (entry.isEmpty()) {
      throw missing(file, "later epochs were run");
    }
    for (Option<?> offset : JavaConverters.seqAsJavaList(entry.get().offsets())) {
      String found = offset.isEmpty() ? "none" : ((Offset) offset.get()).json().trim();
      if (!found.equals(Long.toString(epoch + 1))) {
        throw damaged(file, "it has the offset " + found + " where " + (epoch + 1) + " is expected", null);
      }
    }
  }

  private static long latest(Option<Object> epoch) {
    return epoch.isEmpty() ? -1 : (Long) epoch.get();
  }

  private static <T> T read(Path file, Supplier<T> reading) {
    try {
      return reading.get();
    } catch (Exception e) {
      // Scala declares no exceptions: what is thrown need not be unchecked.
      throw damaged(file, "it cannot be read: " + e, e);
    }
  }

  private static IllegalStateException missing(Path file, String although) {
    return new IllegalStateException(
        "The checkpoint is incomplete: " + file + " is missing although " + although + ". "
            + DurableFile.WHAT_TO_DO);
  }

  private static IllegalStateException damaged(Path file, String what, Exception cause) {
    return new IllegalStateException(
        "The checkpoint's file " + file + " is damaged: " + what + ". " + DurableFile.WHAT_TO_DO, cause);
  }
}
