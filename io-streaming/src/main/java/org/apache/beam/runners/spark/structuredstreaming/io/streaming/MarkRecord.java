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

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.Objects;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * What is durably known of one split at the start of one epoch: where to go on reading and how far
 * the watermark has come. Immutable.
 */
public final class MarkRecord {
  /** What the mark is; the code is part of the file format. */
  public enum Kind {
    /** No record was ever read: the reader starts without a mark. */
    FRESH(0),
    /** The mark as the source's mark coder encoded it, possibly into zero bytes. */
    CODED(1),
    /** The source has no mark coder, or gave no mark: the reader starts without one. */
    NOT_STORED(2);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    private static Kind of(int code) throws IOException {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new IOException("unknown kind of mark " + code);
    }
  }

  /**
   * Which attempt of which task wrote a record. Attempt ids grow within one Spark application.
   *
   * @param application identifies the Spark application
   * @param attempt Spark's id of the task attempt
   */
  public record Writer(String application, long attempt) {
    /** Whether the other attempt was started after this one, as far as can be told. */
    boolean isSupersededBy(Writer other) {
      return application.equals(other.application) && attempt < other.attempt;
    }
  }

  private static final byte[] NO_BYTES = new byte[0];

  private final long epoch;
  private final long watermarkMillis;
  private final boolean finished;
  private final Kind kind;
  private final byte[] coded;
  private final Writer writer;

  private MarkRecord(
      long epoch, long watermarkMillis, boolean finished, Kind kind, byte[] coded, Writer writer) {
    this.epoch = epoch;
    this.watermarkMillis = watermarkMillis;
    this.finished = finished;
    this.kind = Objects.requireNonNull(kind, "kind");
    this.coded = Objects.requireNonNull(coded, "coded");
    this.writer = Objects.requireNonNull(writer, "writer");
  }

  /** A record whose mark has been encoded; the bytes belong to the record from now on. */
  static MarkRecord coded(
      long epoch, long watermarkMillis, boolean finished, byte[] coded, Writer writer) {
    return new MarkRecord(epoch, watermarkMillis, finished, Kind.CODED, coded, writer);
  }

  /** A record of a source that has no mark to store. */
  static MarkRecord notStored(
      long epoch, long watermarkMillis, boolean finished, Writer writer) {
    return new MarkRecord(epoch, watermarkMillis, finished, Kind.NOT_STORED, NO_BYTES, writer);
  }

  /** The state of a split before its first record. */
  static MarkRecord fresh(long epoch, long watermarkMillis, Writer writer) {
    return new MarkRecord(epoch, watermarkMillis, false, Kind.FRESH, NO_BYTES, writer);
  }

  /** The same state at another epoch: nothing was read in between. */
  MarkRecord carriedTo(long otherEpoch, Writer otherWriter) {
    return new MarkRecord(otherEpoch, watermarkMillis, finished, kind, coded, otherWriter);
  }

  /** The same position at another epoch, where nothing is ever read again. */
  MarkRecord drainedAt(long otherEpoch, Writer otherWriter) {
    long endOfTime = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();
    return new MarkRecord(otherEpoch, endOfTime, true, kind, coded, otherWriter);
  }

  /** The epoch that starts from this record; all before are covered by it. */
  public long epoch() {
    return epoch;
  }

  /** The split's watermark, milliseconds since 1970. */
  public long watermarkMillis() {
    return watermarkMillis;
  }

  /** Whether the split has come to the end of time and is never read again. */
  public boolean isFinished() {
    return finished;
  }

  /** What {@link #coded()} is. */
  public Kind kind() {
    return kind;
  }

  /** The encoded mark; empty unless the kind is {@link Kind#CODED}. Must not be modified. */
  public byte[] coded() {
    return coded;
  }

  /** The attempt that wrote the record. */
  public Writer writer() {
    return writer;
  }

  void writeTo(DataOutputStream out) throws IOException {
    out.writeLong(epoch);
    out.writeLong(watermarkMillis);
    out.writeBoolean(finished);
    out.writeByte(kind.code);
    out.writeUTF(writer.application());
    out.writeLong(writer.attempt());
    out.writeInt(coded.length);
    out.write(coded);
  }

  static MarkRecord readFrom(DataInputStream in) throws IOException {
    long epoch = in.readLong();
    long watermarkMillis = in.readLong();
    boolean finished = in.readBoolean();
    Kind kind = Kind.of(in.readUnsignedByte());
    Writer writer = new Writer(in.readUTF(), in.readLong());
    byte[] coded = new byte[in.readInt()];
    if (in.readNBytes(coded, 0, coded.length) < coded.length) {
      throw new EOFException("the mark ends early");
    }
    return new MarkRecord(epoch, watermarkMillis, finished, kind, coded, writer);
  }

  @Override
  public String toString() {
    return kind + " mark at epoch " + epoch + ", watermark " + watermarkMillis
        + (finished ? ", finished" : "");
  }
}
