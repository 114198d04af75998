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

import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.hadoop.fs.Path;
import org.apache.spark.util.SerializableConfiguration;
import org.checkerframework.checker.nullness.qual.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The durable files of one source, under {@code <checkpointDir>/beam/sources/<stable id>/}:
 *
 * <ul>
 *   <li>{@code splits}: the serialized splits. Written once, by the driver, before the first epoch
 *       is read; read by the driver at every later start.
 *   <li>{@code marks/<split>-<epoch>}: the {@link MarkRecord} from which that epoch starts. Written
 *       by the task of the epoch before, as its last act. An attempt that is run again overwrites.
 *   <li>{@code marks/<split>-finished}: stands for the marks of all epochs from its own on. Written
 *       in the epoch after the one that came to the end of time, when that one is committed; so it
 *       is never wrong.
 * </ul>
 *
 * <p>Invariants: a file appears whole or not at all (temporary file and rename); an epoch {@code e}
 * is read only if its start mark exists or {@code e == 0}; a mark at or behind the start of an epoch
 * that is not committed is never deleted.
 *
 * <p>Used by the driver and by every executor, each with an instance of its own. Thread-safe. All
 * methods fail with an {@link IOException} that names the path.
 */
public final class BeamSourceCheckpoint {
  private static final Logger LOG = LoggerFactory.getLogger(BeamSourceCheckpoint.class);
  private static final String FINISHED = "finished";

  private final Path checkpointDir;
  private final long stableId;
  private final String fullName;
  private final SerializableConfiguration configuration;
  private final Path directory;
  private final Path splitsFile;
  private final Path marksDirectory;
  private volatile @Nullable AtomicFiles files;

  /**
   * @param checkpointDir root checkpoint location of the query
   * @param stableId durable id of the transform's full name
   * @param fullName the transform's full name, for errors and for telling foreign files
   * @param configuration how to reach the file system
   */
  public BeamSourceCheckpoint(
      String checkpointDir, long stableId, String fullName, SerializableConfiguration configuration) {
    this.checkpointDir = new Path(checkpointDir);
    this.stableId = stableId;
    this.fullName = Objects.requireNonNull(fullName, "fullName");
    this.configuration = Objects.requireNonNull(configuration, "configuration");
    this.directory = new Path(directory(checkpointDir, stableId));
    this.splitsFile = new Path(directory, "splits");
    this.marksDirectory = new Path(directory, "marks");
  }

  /** Where the durable files of a source lie: its readers are cached by this location too. */
  static String directory(String checkpointDir, long stableId) {
    return checkpointDir + "/beam/sources/" + String.format("%016x", stableId);
  }

  /** The directory of the source's durable files. */
  public Path location() {
    return directory;
  }

  /**
   * The stored splits as {@link #writeSplits} was given them, or null if none have been stored.
   *
   * @throws IOException if the file is damaged or belongs to another transform
   */
  public @Nullable List<byte[]> readSplits() throws IOException {
    byte[] file = files().read(splitsFile);
    if (file == null) {
      return null;
    }
    return DurableFile.decode(splitsFile, file, DurableFile.Kind.SPLITS, this::decodeSplits);
  }

  private List<byte[]> decodeSplits(DataInputStream in) throws IOException {
    String owner = in.readUTF();
    if (!owner.equals(fullName)) {
      throw new IOException(
          "it belongs to the transform '" + owner + "', expected is '" + fullName + "'");
    }
    int count = in.readInt();
    List<byte[]> splits = new ArrayList<>();
    for (int split = 0; split < count; split++) {
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      splits.add(bytes);
    }
    return splits;
  }

  /** Stores the splits; called once by the driver, before any mark is written. */
  public void writeSplits(List<byte[]> splits) throws IOException {
    files().makeDirectory(marksDirectory);
    files().write(
        splitsFile,
        DurableFile.encode(
            DurableFile.Kind.SPLITS,
            out -> {
              out.writeUTF(fullName);
              out.writeInt(splits.size());
              for (byte[] split : splits) {
                out.writeInt(split.length);
                out.write(split);
              }
            }));
  }

  /**
   * The record from which {@code epoch} of a split starts, or null if there is none. The record of a
   * finished split may be one of an earlier epoch.
   */
  public @Nullable MarkRecord readMark(int split, long epoch) throws IOException {
    MarkRecord exact = readMarkFile(split, markFile(split, Long.toString(epoch)));
    if (exact != null) {
      if (exact.epoch() != epoch) {
        throw new IOException(
            "The file " + markFile(split, Long.toString(epoch)) + " cannot be used, it holds the "
                + exact + ". " + DurableFile.WHAT_TO_DO);
      }
      return exact;
    }
    MarkRecord last = readMarkFile(split, markFile(split, FINISHED));
    return last != null && last.epoch() <= epoch ? last : null;
  }

  private @Nullable MarkRecord readMarkFile(int split, Path path) throws IOException {
    byte[] file = files().read(path);
    if (file == null) {
      return null;
    }
    return DurableFile.decode(
        path,
        file,
        DurableFile.Kind.MARK,
        in -> {
          long owner = in.readLong();
          int ownSplit = in.readInt();
          if (owner != stableId || ownSplit != split) {
            throw new IOException(
                String.format(
                    "it belongs to split %d of the source %016x, expected is split %d of %016x (%s)",
                    ownSplit, owner, split, stableId, fullName));
          }
          return MarkRecord.readFrom(in);
        });
  }

  /**
   * Stores the record from which its epoch starts, over one that an earlier attempt left. An attempt
   * that another one has superseded is refused, so that a task which Spark has given up does not
   * replace what counts, unless both write in the same moment: that no two do, and that no copy of a
   * speculative execution writes over the one that counts, is the caller's to see to.
   *
   * @throws IOException if a later attempt of the same application has written the record
   */
  public void writeMark(int split, MarkRecord record) throws IOException {
    Path path = markFile(split, Long.toString(record.epoch()));
    MarkRecord present = readMarkFile(split, path);
    if (present != null && record.writer().isSupersededBy(present.writer())) {
      throw new IOException(
          "The mark " + path + " was written by task attempt " + present.writer().attempt()
              + ", which supersedes this attempt " + record.writer().attempt() + ".");
    }
    writeMarkFile(split, path, record);
  }

  /** Stores the record of a split that has finished, for all epochs from the record's own on. */
  public void writeFinished(int split, MarkRecord record) throws IOException {
    if (!record.isFinished()) {
      throw new IllegalArgumentException(
          "Split " + split + " of " + fullName + " has not finished: " + record);
    }
    writeMarkFile(split, markFile(split, FINISHED), record);
  }

  private void writeMarkFile(int split, Path path, MarkRecord record) throws IOException {
    files().write(
        path,
        DurableFile.encode(
            DurableFile.Kind.MARK,
            out -> {
              out.writeLong(stableId);
              out.writeInt(split);
              record.writeTo(out);
            }));
  }

  /** Deletes the mark of one epoch, if there is one: it has fallen out of what is retained. */
  public void deleteMark(int split, long epoch) throws IOException {
    files().delete(markFile(split, Long.toString(epoch)));
  }

  /**
   * Deletes the marks of all epochs before {@code epoch}. It lists the directory, so it is for the
   * start of a query; in between {@link #deleteMark} keeps the number of marks from growing.
   */
  public void purgeMarksBefore(long epoch) throws IOException {
    for (String name : files().list(marksDirectory)) {
      long markEpoch = number(name.substring(name.indexOf('-') + 1));
      if (markEpoch >= 0 && markEpoch < epoch) {
        files().delete(new Path(marksDirectory, name));
      }
    }
  }

  /**
   * The latest epoch in Spark's commit log, -1 if there is none or the log cannot be read. Marks up
   * to the one at the following epoch may be finalized.
   */
  public long readSparkCommittedEpoch() {
    long latest = -1;
    try {
      for (String name : files().list(new Path(checkpointDir, "commits"))) {
        latest = Math.max(latest, number(name));
      }
    } catch (IOException e) {
      LOG.warn("The commit log under {} cannot be read.", checkpointDir, e);
      return -1;
    }
    return latest;
  }

  /** A file name's value if it consists of digits alone, else -1 (temporary and checksum files). */
  private static long number(String name) {
    if (name.isEmpty() || name.length() > 18 || !name.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return -1;
    }
    return Long.parseLong(name);
  }

  private Path markFile(int split, String epoch) {
    return new Path(marksDirectory, split + "-" + epoch);
  }

  private AtomicFiles files() throws IOException {
    AtomicFiles known = files;
    if (known == null) {
      known = AtomicFiles.at(directory, configuration.value());
      files = known;
    }
    return known;
  }
}
