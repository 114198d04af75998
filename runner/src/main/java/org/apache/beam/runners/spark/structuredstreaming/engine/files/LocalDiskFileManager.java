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
package org.apache.beam.runners.spark.structuredstreaming.engine.files;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager;

/**
 * Writes checkpoints on local disks without starting processes. A file appears as a whole or not at
 * all, and replaces another only if it may, as with Spark's own managers.
 */
final class LocalDiskFileManager extends FileSystemBasedCheckpointFileManager {
  private final Path root;
  private final RawLocalFileSystem local;

  LocalDiskFileManager(Path root, Configuration configuration, RawLocalFileSystem local) {
    super(root, configuration);
    this.root = root;
    this.local = local;
  }

  @Override
  public FSDataOutputStream createTempFile(Path path) {
    try {
      // Not a channel: those close when their thread is interrupted, and the file's end is lost.
      return new FSDataOutputStream(new FileOutputStream(local.pathToFile(path)), null);
    } catch (IOException e) {
      throw new UncheckedIOException(path + " cannot be written: " + e.getMessage(), e);
    }
  }

  @Override
  public void renameTempFile(Path from, Path to, boolean overwriteIfPossible) {
    if (!overwriteIfPossible && exists(to)) {
      try {
        // Refuses, with the exception that Spark knows a second writer by.
        super.renameTempFile(from, to, false);
      } finally {
        delete(from);
      }
      return;
    }
    try {
      Files.move(
          local.pathToFile(from).toPath(),
          local.pathToFile(to).toPath(),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(from + " cannot be renamed to " + to + ": " + e.getMessage(), e);
    }
  }

  @Override
  public void mkdirs(Path path) {
    try {
      Files.createDirectories(local.pathToFile(path).toPath());
    } catch (IOException e) {
      throw new UncheckedIOException(path + " cannot be made: " + e.getMessage(), e);
    }
  }

  @Override
  public Path createCheckpointDirectory() {
    mkdirs(root);
    return local.makeQualified(root);
  }
}
