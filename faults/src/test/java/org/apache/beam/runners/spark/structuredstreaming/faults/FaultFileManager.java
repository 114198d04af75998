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

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.beam.runners.spark.structuredstreaming.engine.files.EngineFileManager;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager.CancellableFSDataOutputStream;
import org.checkerframework.checker.nullness.qual.Nullable;

/**
 * Writes checkpoints as the runner does, and passes the points {@code file <path> begin}, {@code full}
 * (whether its disk is full until it is written), {@code before} (its content is written, under another
 * name) and {@code after} (it has its name), with the path within the checkpoint. Marks, plans and splits
 * are written through it as well as Spark's logs and state.
 */
public final class FaultFileManager implements CheckpointFileManager {
  /** What a thread does in the middle of its next write, behind {@code before}. */
  private static final ThreadLocal<Runnable> IN_WRITE = new ThreadLocal<>();

  private final CheckpointFileManager manager;

  /** Called by Spark, by reflection. */
  public FaultFileManager(Path root, Configuration configuration) throws IOException {
    manager = new EngineFileManager(root, configuration);
  }

  /** Has this thread do something when it has written its next file and not given it its name. */
  static void inNextWrite(Runnable action) {
    IN_WRITE.set(action);
  }

  private static String relative(Path path) {
    String whole = path.toUri().getPath();
    String checkpoint = "/" + FaultProgram.CHECKPOINT + "/";
    return whole.substring(whole.indexOf(checkpoint) + checkpoint.length());
  }

  private static void pass(String relative, String when) throws IOException {
    FaultPoints.pass("file " + relative + " " + when);
  }

  @Override
  public CancellableFSDataOutputStream createAtomic(Path path, boolean overwriteIfPossible) {
    String relative = relative(path);
    try {
      pass(relative, "begin");
    } catch (IOException e) {
      throw sneaky(e);
    }
    CancellableFSDataOutputStream stream = manager.createAtomic(path, overwriteIfPossible);
    return new FaultStream(relative, fullDisk(relative), stream);
  }

  /** Null unless the disk is to be full while the file is written. */
  private static SmallDisk.@Nullable Full fullDisk(String relative) {
    try {
      return FaultPoints.isTold("file " + relative + " full")
          ? SmallDisk.Full.of(FaultPoints.directory().resolve(FaultProgram.CHECKPOINT))
          : null;
    } catch (IOException e) {
      throw sneaky(e);
    }
  }

  /** Scala declares no exceptions, and its callers expect the ones that file systems throw. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> RuntimeException sneaky(Throwable failure) throws E {
    throw (E) failure;
  }

  /** Sees what the system refuses because the disk is full. */
  private static final class WatchedStream extends FilterOutputStream {
    private final SmallDisk.@Nullable Full disk;
    private boolean refused;

    WatchedStream(SmallDisk.@Nullable Full disk, OutputStream out) {
      super(out);
      this.disk = disk;
    }

    @Override
    public void write(int single) throws IOException {
      write(new byte[] {(byte) single}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      try {
        if (disk != null) {
          disk.beforeWrite();
        }
        out.write(bytes, from, length);
      } catch (IOException e) {
        if (SmallDisk.NO_SPACE.equals(e.getMessage())) {
          refused = true;
          FaultPoints.events().add(EventLog.DISK_FULL, FaultPoints.task());
        }
        throw e;
      }
    }

    /** The file is written, or given up. */
    void end(String path) throws IOException {
      if (disk != null) {
        disk.close();
        if (!refused) {
          FaultPoints.events().add(EventLog.DISK_NOT_FULL, path);
        }
      }
    }
  }

  private static final class FaultStream extends CancellableFSDataOutputStream {
    private final String path;
    private final WatchedStream watched;
    private final CancellableFSDataOutputStream stream;
    private boolean ended;

    FaultStream(String path, SmallDisk.@Nullable Full disk, CancellableFSDataOutputStream stream) {
      this(path, new WatchedStream(disk, stream), stream);
    }

    private FaultStream(String path, WatchedStream watched, CancellableFSDataOutputStream stream) {
      super(watched);
      this.path = path;
      this.watched = watched;
      this.stream = stream;
    }

    @Override
    public void close() throws IOException {
      if (ended) {
        stream.close();
        return;
      }
      pass(path, "before");
      Runnable inWrite = IN_WRITE.get();
      if (inWrite != null) {
        IN_WRITE.remove();
        inWrite.run();
      }
      ended = true;
      try {
        stream.close();
      } finally {
        watched.end(path);
      }
      if (path.startsWith("commits/")) {
        FaultPoints.events().add(EventLog.COMMIT, path.substring("commits/".length()));
      }
      pass(path, "after");
    }

    @Override
    public void cancel() {
      if (!ended) {
        ended = true;
        try {
          watched.end(path);
        } catch (IOException e) {
          throw sneaky(e);
        }
      }
      stream.cancel();
    }
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
