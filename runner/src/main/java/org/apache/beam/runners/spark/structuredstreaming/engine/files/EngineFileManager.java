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

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager.CancellableFSDataOutputStream;
import org.apache.spark.sql.execution.streaming.FileContextBasedCheckpointFileManager;
import org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager;

/**
 * How Spark's logs and state stores write their files in sessions that the runner makes: on every
 * file system as Spark does by itself, but for local disks.
 *
 * <p>Hadoop without its native library runs a process, {@code chmod}, for every file and directory it
 * makes on a local disk. Spark makes dozens of them for an epoch with state, which then takes most of
 * its time for that.
 *
 * <p>Spark makes one of these for every log and store, by name, on the driver and on executors.
 */
public final class EngineFileManager implements CheckpointFileManager {
  private final CheckpointFileManager manager;

  /** Called by Spark. */
  public EngineFileManager(Path root, Configuration configuration) throws IOException {
    FileSystem fileSystem = root.getFileSystem(configuration);
    // Any other class, and any other file system below, is one that the user has chosen.
    manager =
        fileSystem.getClass() == LocalFileSystem.class
                && ((LocalFileSystem) fileSystem).getRaw().getClass() == RawLocalFileSystem.class
            ? new LocalDiskFileManager(
                root, configuration, (RawLocalFileSystem) ((LocalFileSystem) fileSystem).getRaw())
            : managerOfSpark(root, configuration);
  }

  /** As {@code CheckpointFileManager.create}, which would come here again. */
  private static CheckpointFileManager managerOfSpark(Path root, Configuration configuration) {
    try {
      return new FileContextBasedCheckpointFileManager(root, configuration);
    } catch (Exception e) {
      // Scala declares no exceptions, so the one meant cannot be named in the catch.
      if (e instanceof UnsupportedFileSystemException) {
        return new FileSystemBasedCheckpointFileManager(root, configuration);
      }
      throw e;
    }
  }

  @Override
  public CancellableFSDataOutputStream createAtomic(Path path, boolean overwriteIfPossible) {
    return manager.createAtomic(path, overwriteIfPossible);
  }

  @Override
  public FSDataInputStream open(Path path) {
    return manager.open(path);
  }

  @Override
  public FileStatus[] list(Path path, PathFilter filter) {
    return manager.list(path, filter);
  }

  @Override
  public void mkdirs(Path path) {
    manager.mkdirs(path);
  }

  @Override
  public boolean exists(Path path) {
    return manager.exists(path);
  }

  @Override
  public void delete(Path path) {
    manager.delete(path);
  }

  @Override
  public boolean isLocal() {
    return manager.isLocal();
  }

  @Override
  public Path createCheckpointDirectory() {
    return manager.createCheckpointDirectory();
  }
}
