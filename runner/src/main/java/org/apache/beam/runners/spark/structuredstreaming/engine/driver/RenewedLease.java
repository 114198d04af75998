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
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.DurableFile;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that its holder writes anew all the time, for file systems on which nothing can be locked.
 *
 * <p>With {@code T} the time of the lease, by the clock of whoever measures, which is never compared with
 * another's:
 *
 * <pre>
 * the holder writes the next number every T / 3
 * it has the right         while its last write that found the file its own is less than T ago
 * another takes it over    when it has seen the same number for 2 T
 * </pre>
 *
 * <p>So a driver that cannot write, or that its machine has held up, has lost the right in its own eyes
 * before anybody else takes it. Of two that take it over at the same time, the one whose write was the last
 * has it: each looks again after {@code T / 3}, before it begins.
 */
final class RenewedLease extends CheckpointLease {
  private static final Logger LOG = LoggerFactory.getLogger(RenewedLease.class);
  private static final int RENEWALS = 3;
  private static final int LOOKS = 10;

  private final Path file;
  private final CheckpointFileManager files;
  private final String owner = UUID.randomUUID().toString();
  private final String holder;
  private final long leaseNanos;
  private final ScheduledExecutorService renewal =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "beam-checkpoint-lease");
            thread.setDaemon(true);
            return thread;
          });
  private long number;
  private volatile long renewedNanos;
  private volatile boolean lost;

  /** What the file says. */
  private record Content(String owner, String holder, long number) {}

  private RenewedLease(Path file, CheckpointFileManager files, String holder, long leaseMillis) {
    this.file = file;
    this.files = files;
    this.holder = holder;
    this.leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis);
  }

  /** See {@link CheckpointLease#take}; takes {@code T / 3}, and after a driver that died up to 2 T more. */
  static RenewedLease take(
      Path file, CheckpointFileManager files, String holder, long leaseMillis) throws IOException {
    RenewedLease lease = new RenewedLease(file, files, holder, leaseMillis);
    try {
      lease.take();
      return lease;
    } catch (IOException | RuntimeException e) {
      lease.renewal.shutdownNow();
      throw e;
    }
  }

  private void take() throws IOException {
    Content found = read();
    if (found != null) {
      LOG.info(
          "{} is of another driver ({}), which may have died: a sign of life is waited for", file, found);
      refuseIfAlive(found);
    }
    renewedNanos = System.nanoTime();
    try {
      write(found != null);
    } catch (FileAlreadyExistsException e) {
      throw inUse(file, "one that started at the same time");
    }
    pause(leaseNanos / RENEWALS);
    renew();
    if (lost) {
      throw inUse(file, read().holder());
    }
    long interval = leaseNanos / RENEWALS;
    ScheduledFuture<?> forEver =
        renewal.scheduleWithFixedDelay(this::renewOrWarn, interval, interval, TimeUnit.NANOSECONDS);
    LOG.debug("{} is renewed by {}", file, forEver);
  }

  private void refuseIfAlive(Content found) throws IOException {
    long start = System.nanoTime();
    while (System.nanoTime() - start < 2 * leaseNanos) {
      pause(leaseNanos / LOOKS);
      Content now = read();
      if (now == null) {
        return;
      }
      if (!now.equals(found)) {
        throw inUse(file, now.holder());
      }
    }
    LOG.warn("The driver ({}) counts as dead: {} is taken over", found.holder(), file);
  }

  private static void pause(long nanos) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < nanos) {
      LockSupport.parkNanos(nanos - (System.nanoTime() - start));
      if (Thread.currentThread().isInterrupted()) {
        throw new IllegalStateException("Interrupted while the checkpoint's lease was taken");
      }
    }
  }

  private void renewOrWarn() {
    try {
      renew();
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} cannot be renewed; no epoch begins or is committed until it can", file, e);
    }
  }

  private synchronized void renew() throws IOException {
    if (lost) {
      return;
    }
    long start = System.nanoTime();
    Content found = read();
    if (found == null || !found.owner().equals(owner)) {
      lost = true;
      LOG.error("{} is of another driver now ({}): this one does not go on", file, found);
      return;
    }
    number++;
    write(true);
    renewedNanos = start;
  }

  private Content read() throws IOException {
    byte[] content;
    try {
      if (!files.exists(file)) {
        return null;
      }
      try (FSDataInputStream in = files.open(file)) {
        content = in.readAllBytes();
      }
    } catch (FileNotFoundException e) {
      LOG.debug("{} has just gone", file, e);
      return null;
    }
    return DurableFile.decode(
        file,
        content,
        DurableFile.Kind.LEASE,
        in -> new Content(in.readUTF(), in.readUTF(), in.readLong()));
  }

  private void write(boolean overwrite) throws IOException {
    byte[] content =
        DurableFile.encode(
            DurableFile.Kind.LEASE,
            out -> {
              out.writeUTF(owner);
              out.writeUTF(holder);
              out.writeLong(number);
            });
    CheckpointDirectory.write(files, file, content, overwrite);
  }

  @Override
  boolean isLost() {
    return lost;
  }

  @Override
  boolean isHeld() {
    return !lost && System.nanoTime() - renewedNanos < leaseNanos;
  }

  @Override
  void check() {
    if (!isHeld()) {
      throw new IllegalStateException(
          lost
              ? file + " is of another driver now, which runs this checkpoint: this one does not go on."
              : file + " could not be renewed in time: another driver may run this checkpoint by now, so"
                  + " the epoch is not committed. See the file system's messages for why.");
    }
  }

  @Override
  public void close() {
    renewal.shutdownNow();
    synchronized (this) {
      if (lost) {
        return;
      }
      lost = true;
      try {
        Content found = read();
        if (found != null && found.owner().equals(owner)) {
          files.delete(file);
        }
      } catch (IOException | RuntimeException e) {
        LOG.warn("{} cannot be deleted: the next start waits until it counts as dead", file, e);
      }
    }
  }
}
