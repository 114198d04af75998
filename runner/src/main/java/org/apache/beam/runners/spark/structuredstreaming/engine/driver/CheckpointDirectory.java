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

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanFingerprint;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager$;
import org.apache.spark.sql.execution.streaming.CommitLog;
import scala.Option;

/**
 * The checkpoint directory of a pipeline, as the driver sees it at a start.
 *
 * <p>{@code beam/plan} says whose checkpoint it is: a first line with the format, a second with the
 * parallelism that its state is divided by, then the fingerprint of the plan. It is written before
 * anything else and never changed, so a directory that holds something and not this file is
 * another's.
 */
final class CheckpointDirectory {
  private static final String FORMAT = "beam-spark-structured-streaming plan v1";
  private static final String PARALLELISM = "parallelism ";
  private static final String OWN_DIRECTORY = "beam";

  private final Path root;
  private final Configuration hadoopConf;
  private final CheckpointFileManager files;

  private CheckpointDirectory(Path root, Configuration hadoopConf) {
    this.root = root;
    this.hadoopConf = hadoopConf;
    this.files = CheckpointFileManager$.MODULE$.create(root, hadoopConf);
  }

  /** Finds the directory, makes it if it is not there, and checks that it can be written. */
  static CheckpointDirectory open(String location, Configuration hadoopConf) {
    Path path = new Path(location);
    try {
      Path root = path.getFileSystem(hadoopConf).makeQualified(path);
      CheckpointDirectory directory = new CheckpointDirectory(root, hadoopConf);
      directory.files.mkdirs(root);
      // A file system that refuses to make the directory without an exception refuses the file.
      Path probe = new Path(root, ".beam-write-check-" + UUID.randomUUID());
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
    Option<Object> last = new CommitLog(session, new Path(root, "commits").toString()).getLatestBatchId();
    return last.isEmpty() ? -1 : (Long) last.get();
  }

  String stateLocation() {
    return new Path(root, "state").toString();
  }

  /**
   * Takes the directory for a pipeline, or checks that it is this pipeline's already.
   *
   * @param parallelism what the state is divided by if the directory is new
   * @return the parallelism that holds
   * @throws IllegalStateException if the directory is another's or of another plan
   */
  int claim(PlanFingerprint plan, int parallelism) {
    Path file = new Path(new Path(root, OWN_DIRECTORY), "plan");
    try {
      if (files.exists(file)) {
        return check(file, read(file), plan);
      }
      refuseForeignContent();
      files.mkdirs(file.getParent());
      String text = FORMAT + "\n" + PARALLELISM + parallelism + "\n" + plan.encode();
      CheckpointFileManager.CancellableFSDataOutputStream out = files.createAtomic(file, false);
      try {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.close();
      } catch (IOException | RuntimeException e) {
        out.cancel();
        throw e;
      }
      return parallelism;
    } catch (IOException e) {
      throw new UncheckedIOException("The checkpoint's file " + file + " cannot be read or written", e);
    }
  }

  /** Deletes the directory with all it holds. */
  void delete() throws IOException {
    root.getFileSystem(hadoopConf).delete(root, true);
  }

  private int check(Path file, String text, PlanFingerprint plan) {
    List<String> lines = text.lines().limit(2).toList();
    if (lines.isEmpty() || !lines.get(0).equals(FORMAT)) {
      throw damaged(file, "its first line is not '" + FORMAT + "'", null);
    }
    if (lines.size() < 2 || !lines.get(1).startsWith(PARALLELISM)) {
      throw damaged(file, "its second line does not give the parallelism", null);
    }
    int stored;
    PlanFingerprint storedPlan;
    try {
      stored = Integer.parseInt(lines.get(1).substring(PARALLELISM.length()));
      storedPlan =
          PlanFingerprint.decode(
              text.substring(lines.get(0).length() + lines.get(1).length() + 2));
    } catch (RuntimeException e) {
      throw damaged(file, "it cannot be decoded", e);
    }
    List<String> differences = PlanFingerprint.incompatibilities(storedPlan, plan);
    if (!differences.isEmpty()) {
      throw new IllegalStateException(
          "The checkpoint " + root + " is of a pipeline that this one cannot go on with: "
              + String.join("; ", differences)
              + ". Start this pipeline with another --checkpointDir, or the earlier one with this.");
    }
    return stored;
  }

  private IllegalStateException damaged(Path file, String what, RuntimeException cause) {
    return new IllegalStateException(
        "The checkpoint's file " + file + " is damaged or of another version of the runner: " + what
            + ". Restore it from a copy, or start with another --checkpointDir.",
        cause);
  }

  private void refuseForeignContent() throws IOException {
    try {
      for (FileStatus found : root.getFileSystem(hadoopConf).listStatus(root)) {
        String name = found.getPath().getName();
        if (!name.startsWith(".") && !name.equals(OWN_DIRECTORY)) {
          throw new IllegalStateException(
              "The checkpoint directory " + root + " holds " + name + " but no " + OWN_DIRECTORY
                  + "/plan: it is not a checkpoint of this runner. Set --checkpointDir to an empty"
                  + " or new directory.");
        }
      }
    } catch (FileNotFoundException e) {
      throw new IllegalStateException("The checkpoint directory " + root + " has just vanished", e);
    }
  }

  private String read(Path file) throws IOException {
    try (FSDataInputStream in = files.open(file)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
