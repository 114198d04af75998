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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A disk of its own for the checkpoint of a run, so small that it can be filled: a tmpfs. Where the system
 * lets nobody mount one the checkpoint stays where it is, and what is to find its disk full is written to
 * the system's device that is always full: it is refused by the system all the same.
 */
final class SmallDisk implements AutoCloseable {
  /** What the system says when a disk is full. */
  static final String NO_SPACE = "No space left on device";

  private static final long BYTES = 32L << 20;
  private static final int BLOCK = 4096;
  private static final String FULL_DEVICE = "/dev/full";
  private static final String FILLER = "filler-";

  /** Beside the disk: the files of those who want it to be full, and the lock of whoever changes that. */
  private static final String WANTED = "full";

  private static final String LOCK = "full-lock";
  private static final long MOUNT_SECONDS = 30;

  private final Path directory;
  private final boolean mounted;

  private SmallDisk(Path directory, boolean mounted) {
    this.directory = directory;
    this.mounted = mounted;
  }

  /** Makes the directory one, if that can be. */
  static SmallDisk at(Path directory) throws IOException {
    Files.createDirectories(directory);
    boolean mounted =
        succeeds("mount", "-t", "tmpfs", "-o", "size=" + BYTES, "tmpfs", directory.toString());
    return new SmallDisk(directory, mounted);
  }

  @Override
  public void close() throws IOException {
    // An executor that is still about to end may have a file open.
    if (mounted && !succeeds("umount", "--lazy", directory.toString())) {
      throw new IOException(directory + " cannot be unmounted");
    }
  }

  @Override
  public String toString() {
    return directory + (mounted ? ", a tmpfs," : "");
  }

  private static boolean succeeds(String... command) {
    try {
      Process process = new ProcessBuilder(command).inheritIO().start();
      return process.onExit().orTimeout(MOUNT_SECONDS, TimeUnit.SECONDS).join().exitValue() == 0;
    } catch (IOException e) {
      // There is no such program.
      return false;
    }
  }

  private static boolean isMounted(Path directory) throws IOException {
    FileStore store = Files.getFileStore(directory);
    return store.type().equals("tmpfs") && store.getTotalSpace() == BYTES;
  }

  /** A disk that is full until this is closed, and as long as anybody else wants it to be. */
  static final class Full implements AutoCloseable {
    private final Path directory;
    private final boolean mounted;
    private final Path wanted;

    private Full(Path directory, boolean mounted, Path wanted) {
      this.directory = directory;
      this.mounted = mounted;
      this.wanted = wanted;
    }

    /** Fills the disk; called by any process. */
    static Full of(Path directory) throws IOException {
      Path wanted =
          Files.createDirectories(directory.resolveSibling(WANTED)).resolve(UUID.randomUUID().toString());
      Full full = new Full(directory, isMounted(directory), wanted);
      full.locked(full::fill);
      return full;
    }

    /** To be called before something is written to the disk. */
    void beforeWrite() throws IOException {
      if (!mounted) {
        try (OutputStream out = new FileOutputStream(FULL_DEVICE)) {
          out.write(0);
        }
      }
    }

    private void fill() throws IOException {
      Files.createFile(wanted);
      if (mounted) {
        try (OutputStream out = Files.newOutputStream(directory.resolve(FILLER + wanted.getFileName()))) {
          byte[] block = new byte[BLOCK];
          for (long written = 0; written <= BYTES; written += BLOCK) {
            out.write(block);
          }
          throw new IllegalStateException(directory + " takes more than it can");
        } catch (IOException e) {
          if (!NO_SPACE.equals(e.getMessage())) {
            throw e;
          }
        }
      }
    }

    private void empty() throws IOException {
      Files.deleteIfExists(wanted);
      for (Path filler : mounted ? files(directory) : List.<Path>of()) {
        if (filler.getFileName().toString().startsWith(FILLER) && files(wanted.getParent()).isEmpty()) {
          Files.delete(filler);
        }
      }
    }

    private static List<Path> files(Path directory) throws IOException {
      try (Stream<Path> listed = Files.list(directory)) {
        return listed.toList();
      }
    }

    @Override
    public void close() throws IOException {
      locked(this::empty);
    }

    private interface Change {
      void make() throws IOException;
    }

    private void locked(Change change) throws IOException {
      // One thread of this process and one process.
      synchronized (Full.class) {
        try (FileChannel channel =
                FileChannel.open(
                    directory.resolveSibling(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = channel.lock()) {
          if (lock.isValid()) {
            change.make();
          }
        }
      }
    }
  }
}
