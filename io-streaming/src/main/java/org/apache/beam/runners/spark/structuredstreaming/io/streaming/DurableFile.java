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

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.Path;

/**
 * The envelope of every durable file that is Beam's own in a checkpoint, so that a wrong, foreign,
 * truncated or newer file is told from a good one before a byte of it is believed.
 *
 * <pre>
 * magic (8 bytes) | kind (1) | version (4) | length of body (4) | body | CRC-32C of all before (4)
 * </pre>
 */
public final class DurableFile {
  /** What to do about a checkpoint that is damaged or incomplete: the end of every such message. */
  public static final String WHAT_TO_DO =
      "Restore the checkpoint directory as a whole from a copy, or start anew with another"
          + " --checkpointDir.";

  /** What a file holds; the code is part of the format. */
  public enum Kind {
    /** The splits of a source. */
    SPLITS(1, 1),
    /** The mark from which an epoch of a split starts. */
    MARK(2, 1),
    /** Whose checkpoint it is. */
    PLAN(3, 1),
    /** From which epoch on a pipeline drains. */
    DRAIN(4, 1),
    /** Which driver runs the pipeline. */
    LEASE(5, 1);

    private final int code;
    private final int version;

    Kind(int code, int version) {
      this.code = code;
      this.version = version;
    }
  }

  /** Writes a body. */
  @FunctionalInterface
  public interface BodyWriter {
    void write(DataOutputStream out) throws IOException;
  }

  /** Reads a body to its end. */
  @FunctionalInterface
  public interface BodyReader<T> {
    T read(DataInputStream in) throws IOException;
  }

  /** "BEAMUSRC" in ASCII. */
  private static final long MAGIC = 0x4245414D55535243L;

  private static final int HEADER_BYTES = 8 + 1 + 4 + 4;
  private static final int CHECKSUM_BYTES = 4;

  private DurableFile() {}

  /** The whole file around a body. */
  public static byte[] encode(Kind kind, BodyWriter writer) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    writer.write(new DataOutputStream(body));
    ByteArrayOutputStream file = new ByteArrayOutputStream(body.size() + HEADER_BYTES + CHECKSUM_BYTES);
    DataOutputStream out = new DataOutputStream(file);
    out.writeLong(MAGIC);
    out.writeByte(kind.code);
    out.writeInt(kind.version);
    out.writeInt(body.size());
    body.writeTo(out);
    out.writeInt(checksum(file.toByteArray(), file.size()));
    return file.toByteArray();
  }

  /**
   * The body of a file, checked.
   *
   * @throws IOException naming the path, what was found, what was expected and what to do
   */
  public static <T> T decode(Path path, byte[] file, Kind kind, BodyReader<T> reader) throws IOException {
    DataInputStream header = new DataInputStream(new ByteArrayInputStream(file));
    if (file.length < HEADER_BYTES + CHECKSUM_BYTES) {
      throw damaged(path, "it is truncated: " + file.length + " bytes");
    }
    long magic = header.readLong();
    if (magic != MAGIC) {
      throw damaged(
          path, "it is no durable file of a Beam pipeline: it starts with " + Long.toHexString(magic));
    }
    int code = header.readUnsignedByte();
    if (code != kind.code) {
      throw damaged(path, "it is of kind " + code + " and not " + kind.code + " (" + kind + ")");
    }
    int version = header.readInt();
    if (version < 1 || version > kind.version) {
      throw damaged(
          path,
          "its version is " + version + ", this release reads versions up to " + kind.version
              + ": continue the query with the release that wrote it, or a newer one");
    }
    int length = header.readInt();
    long expected = (long) HEADER_BYTES + length + CHECKSUM_BYTES;
    if (length < 0 || file.length != expected) {
      throw damaged(
          path,
          "it is truncated or has bytes too many: " + file.length + " bytes where " + expected
              + " are expected");
    }
    int bodyEnd = file.length - CHECKSUM_BYTES;
    DataInputStream trailer =
        new DataInputStream(new ByteArrayInputStream(file, bodyEnd, CHECKSUM_BYTES));
    if (trailer.readInt() != checksum(file, bodyEnd)) {
      throw damaged(path, "its checksum does not fit its content");
    }
    try {
      return reader.read(
          new DataInputStream(new ByteArrayInputStream(file, HEADER_BYTES, length)));
    } catch (IOException | RuntimeException e) {
      throw new IOException(
          "The content of " + path + " cannot be used: " + e.getMessage() + ". " + WHAT_TO_DO, e);
    }
  }

  private static IOException damaged(Path path, String reason) {
    return new IOException("The file " + path + " cannot be used, " + reason + ". " + WHAT_TO_DO);
  }

  private static int checksum(byte[] bytes, int length) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, 0, length);
    return (int) checksum.getValue();
  }
}
