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

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager.CancellableFSDataOutputStream;
import org.apache.spark.sql.internal.SQLConf;
import org.checkerframework.checker.nullness.qual.Nullable;

/**
 * Small whole files in the file system of a checkpoint: a file appears with all of its content or
 * not at all, also when it replaces another one. Thread-safe. Failures name the path.
 *
 * <p>The file system is the one Hadoop finds for the checkpoint, written as Spark writes its own logs
 * there: by Spark's {@link CheckpointFileManager}, and the one the user configured if there is one.
 * Local files of Hadoop's default kind are the exception. For those that way starts several processes
 * a file ({@code chmod}, {@code readlink}) where Hadoop has no native library, which costs more than
 * everything else in a short epoch; the JDK renames atomically by itself.
 */
final class AtomicFiles {
  /** What is done to a file system; Spark's file manager is Scala and declares no exceptions. */
  @FunctionalInterface
  private interface Action<T> {
    T run() throws IOException;
  }

  private final @Nullable RawLocalFileSystem local;
  private final @Nullable CheckpointFileManager manager;

  private AtomicFiles(
      @Nullable RawLocalFileSystem local, @Nullable CheckpointFileManager manager) {
    this.local = local;
    this.manager = manager;
  }

  /** Access to the file system on which {@code directory} lies. */
  static AtomicFiles at(Path directory, Configuration configuration) throws IOException {
    String managerClass = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS().parent().key();
    FileSystem fileSystem =
        attempt(directory, "reached", () -> directory.getFileSystem(configuration));
    if (configuration.get(managerClass) == null
        && fileSystem.getClass() == LocalFileSystem.class
        && ((LocalFileSystem) fileSystem).getRaw().getClass() == RawLocalFileSystem.class) {
      return new AtomicFiles((RawLocalFileSystem) ((LocalFileSystem) fileSystem).getRaw(), null);
    }
    return new AtomicFiles(
        null,
        attempt(
            directory, "reached", () -> CheckpointFileManager.create(directory, configuration)));
  }

  /** The file's content, or null if there is no such file. */
  byte @Nullable [] read(Path path) throws IOException {
    return attempt(
        path,
        "read",
        () -> {
          try {
            if (local != null) {
              return Files.readAllBytes(toLocal(path));
            }
            try (FSDataInputStream in = manager.open(path)) {
              return in.readAllBytes();
            }
          } catch (FileNotFoundException | NoSuchFileException e) {
            return null;
          }
        });
  }

  /** Writes the file, over one that exists. Its directory must exist. */
  void write(Path path, byte[] content) throws IOException {
    attempt(
        path,
        "written",
        () -> {
          if (local != null) {
            writeLocal(toLocal(path), content);
          } else {
            writeManaged(path, content);
          }
          return path;
        });
  }

  private static void writeLocal(java.nio.file.Path path, byte[] content) throws IOException {
    java.nio.file.Path temporary =
        path.resolveSibling("." + path.getFileName() + "." + UUID.randomUUID() + ".tmp");
    try {
      Files.write(temporary, content);
      Files.move(
          temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  private void writeManaged(Path path, byte[] content) throws IOException {
    CancellableFSDataOutputStream out = manager.createAtomic(path, true);
    try {
      out.write(content);
      out.close();
    } catch (IOException | RuntimeException | Error e) {
      out.cancel();
      throw e;
    }
  }

  /** Deletes the file if it exists. */
  void delete(Path path) throws IOException {
    attempt(
        path,
        "deleted",
        () -> {
          if (local != null) {
            Files.deleteIfExists(toLocal(path));
          } else {
            manager.delete(path);
          }
          return path;
        });
  }

  /** Makes the directory and those above it as needed. */
  void makeDirectory(Path path) throws IOException {
    attempt(
        path,
        "made",
        () -> {
          if (local != null) {
            Files.createDirectories(toLocal(path));
          } else {
            manager.mkdirs(path);
          }
          return path;
        });
  }

  /** The names of what lies in the directory, none if it does not exist. */
  List<String> list(Path directory) throws IOException {
    return attempt(
        directory,
        "listed",
        () -> {
          List<String> names = new ArrayList<>();
          try {
            if (local != null) {
              try (Stream<java.nio.file.Path> files = Files.list(toLocal(directory))) {
                files.forEach(file -> names.add(file.getFileName().toString()));
              }
            } else {
              for (FileStatus status : manager.list(directory)) {
                names.add(status.getPath().getName());
              }
            }
          } catch (FileNotFoundException | NoSuchFileException e) {
            return List.of();
          }
          return names;
        });
  }

  private java.nio.file.Path toLocal(Path path) {
    return local.pathToFile(path).toPath();
  }

  private static <T> T attempt(Path path, String done, Action<T> action) throws IOException {
    try {
      return action.run();
    } catch (ClosedByInterruptException | InterruptedIOException e) {
      // Spark tells a query or task that is being stopped from a failing one by this type.
      throw e;
    } catch (ChecksumException e) {
      throw new IOException(
          path + " is damaged: " + e.getMessage() + ". " + DurableFile.WHAT_TO_DO, e);
    } catch (IOException e) {
      throw new IOException(path + " cannot be " + done + ": " + e, e);
    }
  }
}
