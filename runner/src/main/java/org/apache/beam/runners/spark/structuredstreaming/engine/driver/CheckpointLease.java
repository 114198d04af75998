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

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The right of one driver to run the pipeline of a checkpoint, from its start to its end:
 *
 * <pre>
 * drivers that begin or commit an epoch of a checkpoint at any time &lt;= 1
 * </pre>
 *
 * <p>On local disks the operating system sees to it, by a lock that ends with its process. Other file
 * systems have none in common: there a file is renewed, see {@link RenewedLease}.
 */
abstract class CheckpointLease implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(CheckpointLease.class);

  /** Files of this kind, in the directory of the runner's own files. */
  static final String LOCK_FILE = "lock";

  static final String LEASE_FILE = "lease";

  /**
   * Takes the right.
   *
   * @param directory where the file of the lease is; made if it is not there
   * @param jobName told to whoever wants the same checkpoint
   * @param leaseMillis where there is no lock, after how long without a sign of life a driver counts as
   *     dead
   * @throws IllegalStateException if another driver has it; names that one, as far as it is known
   */
  static CheckpointLease take(
      Path directory,
      Configuration hadoopConf,
      CheckpointFileManager files,
      String jobName,
      long leaseMillis)
      throws IOException {
    files.mkdirs(directory);
    String holder = "job " + jobName + ", process " + ProcessHandle.current().pid() + " on " + host();
    Path qualified = directory.getFileSystem(hadoopConf).makeQualified(directory);
    if ("file".equals(qualified.toUri().getScheme())) {
      try {
        return FileLockLease.take(
            java.nio.file.Path.of(qualified.toUri().getPath()).resolve(LOCK_FILE), holder);
      } catch (IOException e) {
        LOG.warn(
            "No file under {} can be locked, as on some network file systems: a file that is renewed"
                + " takes the place of the lock",
            directory,
            e);
      }
    }
    return RenewedLease.take(new Path(directory, LEASE_FILE), files, holder, leaseMillis);
  }

  static IllegalStateException inUse(Object file, String holder) {
    return new IllegalStateException(
        "The checkpoint is in use by another driver (" + holder + "), says " + file
            + ". Two drivers must not run one checkpoint: cancel that one first, or set another"
            + " --checkpointDir.");
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "a host without a name";
    }
  }

  /** Whether another driver has taken over, so that this one must not go on, nor start again. */
  abstract boolean isLost();

  /** Whether this driver has the right beyond doubt at this moment. Any thread may ask. */
  abstract boolean isHeld();

  /**
   * Called before an epoch begins and before it is committed.
   *
   * @throws IllegalStateException unless the right is held
   */
  abstract void check();

  /** Gives the right back. Does nothing if it is lost, or given back. */
  @Override
  public abstract void close();
}
