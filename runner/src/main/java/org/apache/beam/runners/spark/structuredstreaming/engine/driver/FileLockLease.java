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
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock of the operating system on a file, which ends with the process at the latest. The file stays:
 * one that is deleted could be locked by two, each its own.
 */
final class FileLockLease extends CheckpointLease {
  private static final Logger LOG = LoggerFactory.getLogger(FileLockLease.class);

  private final Path file;
  private final FileLock lock;

  private FileLockLease(Path file, FileLock lock) {
    this.file = file;
    this.lock = lock;
  }

  /**
   * @throws IOException if files cannot be locked here
   */
  static FileLockLease take(Path file, String holder) throws IOException {
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      FileLock lock = channel.tryLock();
      if (lock == null) {
        throw inUse(file, Files.readString(file));
      }
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(holder.getBytes(StandardCharsets.UTF_8)));
      return new FileLockLease(file, lock);
    } catch (OverlappingFileLockException e) {
      channel.close();
      throw inUse(file, Files.readString(file));
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  boolean isLost() {
    return false;
  }

  @Override
  boolean isHeld() {
    return lock.isValid();
  }

  @Override
  void check() {
    if (!isHeld()) {
      throw new IllegalStateException("The lock on " + file + " has been given back.");
    }
  }

  @Override
  public void close() {
    try {
      // Closes the lock too.
      lock.acquiredBy().close();
    } catch (IOException e) {
      LOG.warn("The lock on {} cannot be given back before this process ends", file, e);
    }
  }
}
