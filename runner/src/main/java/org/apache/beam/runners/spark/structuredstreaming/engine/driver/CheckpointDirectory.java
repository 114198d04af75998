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

import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.DurableFile;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanFingerprint;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager$;

/**
 * The checkpoint directory of a pipeline, as the driver sees it at a start.
 *
 * <p>{@code beam/plan} says whose checkpoint it is: a {@link DurableFile} that holds a {@link
 * PlanHistory}. It is written before anything else, so a directory that holds something and not this
 * file is another's, or has lost it; and again, as a whole, before a plan that differs may run.
 *
 * <p>{@code beam/drain}, likewise a {@link DurableFile}, is there once the pipeline drains, and holds
 * the first epoch that does.
 */
final class CheckpointDirectory {
  private static final String PROBE = ".beam-write-check-";
  private static final String OWN_DIRECTORY = "beam";

  /** What lies below is read as objects of the pipeline: nobody else is to put anything there. */
  private static final FsPermission OF_OWNER_AND_GROUP =
      new FsPermission(FsAction.ALL, FsAction.READ_EXECUTE, FsAction.NONE);

  private final Path root;
  private final Path planFile;
  private final Path drainFile;
  private final Configuration hadoopConf;
  private final CheckpointFileManager files;
  private CheckpointLease lease;

  private CheckpointDirectory(Path root, Configuration hadoopConf) {
    this.root = root;
    this.planFile = new Path(new Path(root, OWN_DIRECTORY), "plan");
    this.drainFile = new Path(new Path(root, OWN_DIRECTORY), "drain");
    this.hadoopConf = hadoopConf;
    this.files = CheckpointFileManager$.MODULE$.create(root, hadoopConf);
  }

  /** Finds the directory, makes it if it is not there, and checks that it can be written. */
  static CheckpointDirectory open(String location, Configuration hadoopConf) {
    Path path = new Path(location);
    try {
      FileSystem fileSystem = path.getFileSystem(hadoopConf);
      Path root = fileSystem.makeQualified(path);
      refuseFileInTheWay(fileSystem, root);
      CheckpointDirectory directory = new CheckpointDirectory(root, hadoopConf);
      if (!fileSystem.exists(root)) {
        directory.files.mkdirs(root);
        fileSystem.setPermission(root, OF_OWNER_AND_GROUP);
      }
      // A file system that refuses to make the directory without an exception refuses the file.
      Path probe = new Path(root, PROBE + UUID.randomUUID());
      directory.files.createAtomic(probe, true).close();
      directory.files.delete(probe);
      return directory;
    } catch (IOException | RuntimeException e) {
      throw new IllegalStateException(
          "The checkpoint directory " + location + " cannot be written: " + e.getMessage()
              + ". Set --checkpointDir to a directory that driver and executors may write to.",
          e);
    }
  }

  /** File systems say of a file where a directory is to be little that helps, and not all the same. */
  private static void refuseFileInTheWay(FileSystem fileSystem, Path root) throws IOException {
    Path existing = root;
    while (existing != null && !fileSystem.exists(existing)) {
      existing = existing.getParent();
    }
    if (existing != null && !fileSystem.getFileStatus(existing).isDirectory()) {
      throw new FileAlreadyExistsException(
          "a file is in the way, " + existing + ", which may be moved elsewhere");
    }
  }

  /** The directory with its scheme and authority. */
  String location() {
    return root.toString();
  }

  /**
   * What two spellings of one directory have in common: on a local file system its real path, which
   * has no symbolic links, elsewhere the qualified path.
   */
  String identity() {
    if ("file".equals(root.toUri().getScheme())) {
      try {
        return "file:" + java.nio.file.Path.of(root.toUri().getPath()).toRealPath();
      } catch (IOException e) {
        throw new UncheckedIOException("The checkpoint directory " + root + " has just vanished", e);
      }
    }
    return root.toString();
  }

  /** The last epoch that Spark has committed, -1 if there is none. */
  long lastCommittedEpoch(SparkSession session) {
    return new SparkLogs(root, session, hadoopConf).lastCommittedEpoch();
  }

  String stateLocation() {
    return new Path(root, "state").toString();
  }

  /**
   * Takes the directory for a pipeline, or checks that it is this pipeline's already, and that all
   * that a start reads of Spark's logs is there and whole. Notes the plan if it is another than before.
   *
   * @param parallelism what the state is divided by if the directory is new
   * @throws IllegalStateException if the directory is another's or of another plan, or if something in
   *     it is damaged or missing; names the path and says what to do
   */
  Claim claim(PlanFingerprint plan, int parallelism, SparkSession session) {
    try {
      if (!files.exists(planFile)) {
        refuseForeignContent();
        files.mkdirs(planFile.getParent());
        PlanHistory begun = PlanHistory.begin(parallelism, plan);
        write(begun);
        return new Claim(parallelism, 0, begun.checkpointId());
      }
      PlanHistory stored = read(planFile, DurableFile.Kind.PLAN, PlanHistory::readFrom);
      long lastCommitted = new SparkLogs(root, session, hadoopConf).check(sourcesBegan());
      refuseIncompatible(stored.inForce(lastCommitted), plan);
      PlanHistory noted = stored.note(plan, lastCommitted);
      if (!noted.equals(stored)) {
        write(noted);
      }
      return new Claim(stored.parallelism(), lastCommitted + 1, stored.checkpointId());
    } catch (ChecksumException e) {
      throw damaged(planFile, e.getMessage(), e);
    } catch (IOException e) {
      throw new UncheckedIOException("The checkpoint's file " + planFile + " cannot be read or written", e);
    }
  }

  /**
   * What a start goes by.
   *
   * @param parallelism what the state is divided by
   * @param firstEpoch the epoch that runs first
   * @param checkpointId given to the directory when it was new
   */
  record Claim(int parallelism, long firstEpoch, UUID checkpointId) {}

  /**
   * Takes the right to run this checkpoint's pipeline, for this driver alone; called before {@link
   * #claim}.
   *
   * @throws IllegalStateException if another driver has it
   */
  void takeLease(String jobName, long leaseMillis) {
    try {
      if (!isClaimed()) {
        // Nothing is to be put into a directory that is another's.
        refuseForeignContent();
      }
      lease = CheckpointLease.take(planFile.getParent(), hadoopConf, files, jobName, leaseMillis);
    } catch (IOException e) {
      throw new IllegalStateException(
          "No lease can be taken on the checkpoint " + root + ": " + e.getMessage(), e);
    }
  }

  /** What {@link #takeLease} has taken. */
  CheckpointLease lease() {
    return lease;
  }

  /** Gives back what {@link #takeLease} has taken, if it has. */
  void releaseLease() {
    if (lease != null) {
      lease.close();
    }
  }

  /** Deletes the directory with all it holds. */
  void delete() throws IOException {
    root.getFileSystem(hadoopConf).delete(root, true);
  }

  /** Whether a pipeline has been started with this checkpoint. */
  boolean isClaimed() {
    return files.exists(planFile);
  }

  /**
   * The first epoch that drains, as {@link #writeFirstDraining} has noted it.
   *
   * @return null if nothing is noted
   * @throws IllegalStateException if the note is damaged; names the path and says what to do
   */
  Long readFirstDraining() {
    try {
      return files.exists(drainFile)
          ? read(drainFile, DurableFile.Kind.DRAIN, DataInputStream::readLong)
          : null;
    } catch (ChecksumException e) {
      throw damaged(drainFile, e.getMessage(), e);
    } catch (IOException e) {
      throw new UncheckedIOException("The checkpoint's file " + drainFile + " cannot be read", e);
    }
  }

  /** Notes durably from which epoch on the pipeline drains. */
  void writeFirstDraining(long epoch) throws IOException {
    write(drainFile, DurableFile.encode(DurableFile.Kind.DRAIN, out -> out.writeLong(epoch)));
  }

  /** What is wrong with a checkpoint whose pipeline is noted to drain from an epoch that is not there. */
  IllegalStateException doesNotFit(long firstDraining, long nextEpoch) {
    return damaged(
        drainFile,
        "it says that the pipeline drains from epoch " + firstDraining + " on, but the next epoch is "
            + nextEpoch,
        null);
  }

  private static IllegalStateException damaged(Path file, String what, IOException cause) {
    return new IllegalStateException(
        "The checkpoint's file " + file + " is damaged: " + what + ". " + DurableFile.WHAT_TO_DO,
        cause);
  }

  private <T> T read(Path file, DurableFile.Kind kind, DurableFile.BodyReader<T> reader)
      throws IOException {
    if (root.getFileSystem(hadoopConf).getFileStatus(file).isDirectory()) {
      throw damaged(file, "it is a directory and no file", null);
    }
    byte[] content;
    try (FSDataInputStream in = files.open(file)) {
      content = in.readAllBytes();
    }
    try {
      return DurableFile.decode(file, content, kind, reader);
    } catch (IOException e) {
      // The bytes are here: it is what they say that is wrong, and the message says it all.
      throw new IllegalStateException("The checkpoint is damaged: " + e.getMessage(), e);
    }
  }

  private void write(PlanHistory history) throws IOException {
    write(planFile, DurableFile.encode(DurableFile.Kind.PLAN, history::writeTo));
  }

  private void write(Path file, byte[] content) throws IOException {
    write(files, file, content, true);
  }

  /** Writes a file that appears as a whole or not at all. */
  static void write(CheckpointFileManager files, Path file, byte[] content, boolean overwrite)
      throws IOException {
    CheckpointFileManager.CancellableFSDataOutputStream out = files.createAtomic(file, overwrite);
    try {
      out.write(content);
      out.close();
    } catch (IOException | RuntimeException e) {
      out.cancel();
      throw e;
    }
  }

  private void refuseIncompatible(PlanFingerprint stored, PlanFingerprint plan) {
    List<String> differences = PlanFingerprint.incompatibilities(stored, plan);
    if (!differences.isEmpty()) {
      throw new IllegalStateException(
          "The checkpoint " + root + " is of a pipeline that this one cannot go on with: "
              + String.join("; ", differences)
              + ". Start this pipeline with another --checkpointDir, or the earlier one with this.");
    }
  }

  /** Whether a source has stored splits or marks, which none does before its first epoch is logged. */
  private boolean sourcesBegan() throws IOException {
    FileSystem fileSystem = root.getFileSystem(hadoopConf);
    Path sources = new Path(planFile.getParent(), "sources");
    return fileSystem.exists(sources) && fileSystem.listFiles(sources, true).hasNext();
  }

  private void refuseForeignContent() throws IOException {
    FileSystem fileSystem = root.getFileSystem(hadoopConf);
    for (FileStatus found : fileSystem.listStatus(root)) {
      String name = found.getPath().getName();
      boolean own =
          (name.equals(OWN_DIRECTORY) && found.isDirectory())
              ? Arrays.stream(fileSystem.listStatus(found.getPath()))
                  .map(each -> each.getPath().getName())
                  .allMatch(each -> isOfALease(each) || isLeftByAnInterruptedStart(each))
              : isLeftByAnInterruptedStart(name);
      if (!own) {
        throw new IllegalStateException(
            "The checkpoint directory " + root + " holds " + name + " but no " + OWN_DIRECTORY
                + "/plan: it is not a checkpoint of this runner, or no complete one. Set"
                + " --checkpointDir to an empty or new directory; if this is a checkpoint, restore it"
                + " as a whole from a copy.");
      }
    }
  }

  private static boolean isOfALease(String name) {
    return name.equals(CheckpointLease.LOCK_FILE) || name.equals(CheckpointLease.LEASE_FILE);
  }

  /** Probes of ours, and the hidden temporary and checksum files that Hadoop makes beside a file. */
  private static boolean isLeftByAnInterruptedStart(String name) {
    return name.startsWith(".")
        && (name.contains(PROBE) || name.endsWith(".crc") || name.endsWith(".tmp"));
  }
}
