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

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Values in a temporary file, which are read while more are written. In a directory that Spark has
 * for such files, and deleted by {@link #close}.
 */
final class ValueFile implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(ValueFile.class);
  private static final int BUFFER_BYTES = 1 << 16;

  private final File file;
  private final DataOutputStream out;
  private final List<Reader> readers = new ArrayList<>();
  private long written;
  private long flushed;

  ValueFile() throws IOException {
    this.file = SparkEnv.get().blockManager().diskBlockManager().createTempLocalBlock()._2();
    this.out =
        new DataOutputStream(
            new BufferedOutputStream(Files.newOutputStream(file.toPath()), BUFFER_BYTES));
  }

  void append(byte[] bytes, int offset, int length) throws IOException {
    out.writeInt(length);
    out.write(bytes, offset, length);
    written++;
  }

  /** A reader of all values from the first on, those that are written later too. */
  Reader reader() throws IOException {
    Reader reader = new Reader();
    readers.add(reader);
    return reader;
  }

  /** Deletes the file. No reader is used afterwards. */
  @Override
  public void close() {
    try {
      for (Reader reader : readers) {
        reader.in.close();
      }
      out.close();
      Files.deleteIfExists(file.toPath());
    } catch (IOException e) {
      LOG.warn("The temporary file {} cannot be deleted", file, e);
    }
  }

  /** Reads one value after the other. */
  final class Reader {
    private final DataInputStream in;
    private byte[] bytes = new byte[256];
    private long read;

    private Reader() throws IOException {
      out.flush();
      flushed = written;
      this.in =
          new DataInputStream(
              new BufferedInputStream(Files.newInputStream(file.toPath()), BUFFER_BYTES));
    }

    /**
     * Reads value number {@code index}, which has been written, into an array that the next call uses
     * again. The numbers of calls grow.
     */
    void read(long index, ByteInput value) throws IOException {
      if (index >= flushed) {
        out.flush();
        flushed = written;
      }
      while (read < index) {
        in.skipNBytes(in.readInt());
        read++;
      }
      int length = in.readInt();
      if (bytes.length < length) {
        bytes = new byte[length];
      }
      in.readFully(bytes, 0, length);
      value.reset(bytes, 0, length);
      read++;
    }
  }
}
