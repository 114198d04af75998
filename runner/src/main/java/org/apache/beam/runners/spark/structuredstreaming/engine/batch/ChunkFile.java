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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.io.Closeable;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import org.apache.spark.SparkEnv;

/**
 * Chunks of bytes in a temporary file, in a directory that Spark has for such files. Written by one
 * thread; any number of threads may read what was written before they came to know of it. Deleted by
 * {@link #close}.
 */
final class ChunkFile implements Closeable {
  private final File file;
  private final FileChannel channel;
  private long length;

  ChunkFile() throws IOException {
    this.file = SparkEnv.get().blockManager().diskBlockManager().createTempLocalBlock()._2();
    this.channel =
        FileChannel.open(
            file.toPath(),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
  }

  /** A chunk that was written. */
  final class Chunk {
    private final long offset;
    private final int bytes;

    private Chunk(long offset, int bytes) {
      this.offset = offset;
      this.bytes = bytes;
    }

    /** The chunk as it was written, in an array of its own. */
    byte[] read() {
      try {
        ByteBuffer buffer = ByteBuffer.allocate(bytes);
        while (buffer.hasRemaining()) {
          if (channel.read(buffer, offset + buffer.position()) < 0) {
            throw new EOFException("It ends within the chunk at " + offset);
          }
        }
        return buffer.array();
      } catch (IOException e) {
        throw new UncheckedIOException("The temporary file " + file + " cannot be read", e);
      }
    }
  }

  Chunk append(byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    Chunk chunk = new Chunk(length, bytes.length);
    while (buffer.hasRemaining()) {
      length += channel.write(buffer, length);
    }
    return chunk;
  }

  @Override
  public void close() throws IOException {
    channel.close();
    Files.deleteIfExists(file.toPath());
  }
}
