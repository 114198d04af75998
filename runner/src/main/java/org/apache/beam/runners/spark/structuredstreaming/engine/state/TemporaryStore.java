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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rows in a RocksDB of their own, in one of the directories that Spark has for temporary files. It is
 * made by the first write, and deleted by {@link #close}, or with the task if it is of one. Nothing in it
 * is durable: there is no log.
 *
 * <pre>
 * (prefix, suffix) -> value   as   (length of prefix, prefix, suffix) -> value
 * </pre>
 *
 * <p>A scan reads a snapshot of the rows as they are when it begins. Values of more than {@value
 * #LEAST_BLOB_BYTES} bytes lie beside the sorted keys and are not copied when those are.
 */
public final class TemporaryStore implements StateRows, Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(TemporaryStore.class);
  private static final long WRITE_BUFFER_BYTES = 16L << 20;
  private static final long BLOCK_CACHE_BYTES = 8L << 20;
  private static final long LEAST_BLOB_BYTES = 4 << 10;
  private static final int FILTER_BITS_PER_KEY = 10;

  // In the order in which they are made; closed in the opposite one.
  private final List<AutoCloseable> resources = new ArrayList<>();
  private final Set<Scan> scans = new LinkedHashSet<>();
  private final boolean ofTask;
  private Path directory;
  private RocksDB store;
  private WriteOptions withoutLog;
  private ReadOptions once;
  private boolean closed;

  /**
   * @param ofTask whether the end of the task that writes first ends it
   */
  public TemporaryStore(boolean ofTask) {
    this.ofTask = ofTask;
  }

  /** Whether anything was written, since when there is something on disk. */
  boolean isOpen() {
    return store != null;
  }

  @Override
  public byte[] get(byte[] prefix, byte[] suffix) {
    checkNotClosed();
    if (!isOpen()) {
      return null;
    }
    try {
      return store.get(key(prefix, suffix));
    } catch (RocksDBException e) {
      throw failure("read", e);
    }
  }

  @Override
  public void put(byte[] prefix, byte[] suffix, byte[] value) {
    checkNotClosed();
    open();
    try {
      store.put(withoutLog, key(prefix, suffix), value);
    } catch (RocksDBException e) {
      throw failure("written", e);
    }
  }

  @Override
  public void insert(byte[] prefix, byte[] suffix, byte[] value) {
    put(prefix, suffix, value);
  }

  @Override
  public void remove(byte[] prefix, byte[] suffix) {
    checkNotClosed();
    if (!isOpen()) {
      return;
    }
    try {
      store.delete(withoutLog, key(prefix, suffix));
    } catch (RocksDBException e) {
      throw failure("removed", e);
    }
  }

  @Override
  public Iterator<StateRow> scan(byte[] prefix) {
    checkNotClosed();
    return isOpen() ? new Scan(key(prefix, new byte[0]), null) : Collections.emptyIterator();
  }

  @Override
  public Iterator<StateRow> drain(byte[] prefix) {
    checkNotClosed();
    return isOpen() ? new Scan(key(prefix, new byte[0]), prefix) : Collections.emptyIterator();
  }

  /** Does nothing: nothing is held back. */
  @Override
  public void flush() {}

  /** Deletes all there is; may be called again. */
  @Override
  public void close() {
    // Where nothing was written there is nothing that could be missed afterwards.
    closed |= isOpen();
    List.copyOf(scans).forEach(Scan::end);
    Collections.reverse(resources);
    for (AutoCloseable resource : resources) {
      try {
        resource.close();
      } catch (Exception e) {
        LOG.warn("A part of the temporary state in {} cannot be closed", directory, e);
      }
    }
    resources.clear();
    if (directory != null) {
      delete(directory);
      directory = null;
    }
  }

  private void open() {
    if (isOpen()) {
      return;
    }
    // Before the first of its objects is made.
    RocksDB.loadLibrary();
    try {
      File[] local = SparkEnv.get().blockManager().diskBlockManager().localDirs();
      File chosen = local[ThreadLocalRandom.current().nextInt(local.length)];
      directory = Files.createTempDirectory(chosen.toPath(), "beam-state-");
      TaskContext task = TaskContext.get();
      if (ofTask && task != null) {
        TaskCompletionListener listener = context -> close();
        task.addTaskCompletionListener(listener);
      }
      withoutLog = closedLater(new WriteOptions()).setDisableWAL(true);
      once = closedLater(new ReadOptions()).setFillCache(false);
      store = closedLater(RocksDB.open(options(), directory.toString()));
    } catch (IOException | RocksDBException e) {
      throw failure("opened", e);
    }
  }

  private Options options() {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(closedLater(new LRUCache(BLOCK_CACHE_BYTES)))
            .setFilterPolicy(closedLater(new BloomFilter(FILTER_BITS_PER_KEY)));
    return closedLater(new Options())
        .setCreateIfMissing(true)
        .setWriteBufferSize(WRITE_BUFFER_BYTES)
        .setCompressionType(CompressionType.LZ4_COMPRESSION)
        .setBlobCompressionType(CompressionType.LZ4_COMPRESSION)
        .setEnableBlobFiles(true)
        .setMinBlobSize(LEAST_BLOB_BYTES)
        .setEnableBlobGarbageCollection(true)
        .setInfoLogLevel(InfoLogLevel.ERROR_LEVEL)
        .setStatsDumpPeriodSec(0)
        .setTableFormatConfig(table);
  }

  private <T extends AutoCloseable> T closedLater(T resource) {
    resources.add(resource);
    return resource;
  }

  private static byte[] key(byte[] prefix, byte[] suffix) {
    return new ByteOutput(Integer.BYTES + prefix.length + suffix.length)
        .writeSized(prefix)
        .writeBytes(suffix)
        .toByteArray();
  }

  private void checkNotClosed() {
    if (closed) {
      throw new IllegalStateException(
          "The state of a key was used when the key was done. Iterables that are read from large state"
              + " end with it: copy what is needed for longer.");
    }
  }

  private UncheckedIOException failure(String how, Exception e) {
    return new UncheckedIOException(
        "State that is too large for memory cannot be " + how + " in " + directory
            + ", one of Spark's local directories",
        e instanceof IOException io ? io : new IOException(e));
  }

  private static void delete(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      LOG.warn("The temporary state in {} cannot be deleted", directory, e);
    }
  }

  /** The rows of a prefix, each removed when it is returned if they are drained. */
  private final class Scan implements Iterator<StateRow> {
    private final byte[] keyPrefix;
    private final byte[] drained;
    private RocksIterator rows;

    /**
     * @param drained the prefix of the rows to remove, or null to leave them
     */
    Scan(byte[] keyPrefix, byte[] drained) {
      this.keyPrefix = keyPrefix;
      this.drained = drained;
      this.rows = store.newIterator(once);
      scans.add(this);
      rows.seek(keyPrefix);
    }

    @Override
    public boolean hasNext() {
      checkNotClosed();
      if (rows == null) {
        return false;
      }
      if (rows.isValid() && startsWith(rows.key(), keyPrefix)) {
        return true;
      }
      try {
        rows.status();
      } catch (RocksDBException e) {
        throw failure("read", e);
      }
      end();
      return false;
    }

    @Override
    public StateRow next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      byte[] key = rows.key();
      StateRow row =
          new StateRow(Arrays.copyOfRange(key, keyPrefix.length, key.length), rows.value());
      rows.next();
      if (drained != null) {
        TemporaryStore.this.remove(drained, row.suffix());
      }
      return row;
    }

    private void end() {
      if (rows != null) {
        rows.close();
        rows = null;
        scans.remove(this);
      }
    }

    private static boolean startsWith(byte[] key, byte[] start) {
      return key.length >= start.length
          && Arrays.equals(key, 0, start.length, start, 0, start.length);
    }
  }
}
