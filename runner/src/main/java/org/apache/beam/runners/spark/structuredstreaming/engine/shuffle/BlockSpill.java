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
package org.apache.beam.runners.spark.structuredstreaming.engine.shuffle;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.spark.SparkEnv;
import scala.Tuple2;

/**
 * Blocks that wait on disk, first in first out, among Spark's own temporary files and encrypted as
 * those are. A file is written until the first block is asked for, then read; blocks added meanwhile
 * go to the next file.
 *
 * <p>Not thread-safe. {@link #close} must be called in the end.
 */
final class BlockSpill {
  private File writing;
  private DataOutputStream out;
  private long written;
  private File reading;
  private DataInputStream in;
  private long unread;

  boolean isEmpty() {
    return unread == 0 && written == 0;
  }

  void add(int partition, Block block) {
    try {
      if (out == null) {
        writing = SparkEnv.get().blockManager().diskBlockManager().createTempLocalBlock()._2();
        out =
            new DataOutputStream(
                SparkEnv.get()
                    .serializerManager()
                    .wrapForEncryption(new BufferedOutputStream(new FileOutputStream(writing))));
      }
      out.writeInt(partition);
      out.writeInt(block.length());
      out.write(block.bytes(), 0, block.length());
      written++;
    } catch (IOException e) {
      throw new UncheckedIOException("Blocks cannot be spilled to " + writing, e);
    }
  }

  /** The oldest block with its partition; there is one. */
  Tuple2<Object, Object> poll() {
    try {
      if (unread == 0) {
        turn();
      }
      int partition = in.readInt();
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      unread--;
      return new Tuple2<>(partition, new Block(bytes, bytes.length));
    } catch (IOException e) {
      throw new UncheckedIOException("Spilled blocks cannot be read back from " + reading, e);
    }
  }

  /** Forgets all blocks and deletes the files. */
  void close() {
    try {
      if (out != null) {
        out.close();
      }
      if (in != null) {
        in.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("A file of spilled blocks cannot be closed", e);
    } finally {
      delete(writing);
      delete(reading);
      writing = null;
      reading = null;
      out = null;
      in = null;
      written = 0;
      unread = 0;
    }
  }

  /** Closes the file that was written and goes on reading it. */
  private void turn() throws IOException {
    if (in != null) {
      in.close();
      delete(reading);
    }
    out.close();
    reading = writing;
    unread = written;
    writing = null;
    out = null;
    written = 0;
    in =
        new DataInputStream(
            SparkEnv.get()
                .serializerManager()
                .wrapForEncryption(new BufferedInputStream(new FileInputStream(reading))));
  }

  /** A file that stays is removed by Spark with its temporary directory. */
  private static void delete(File file) {
    if (file != null && file.exists() && !file.delete()) {
      file.deleteOnExit();
    }
  }
}
