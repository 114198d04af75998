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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.beam.sdk.coders.AtomicCoder;
import org.apache.beam.sdk.coders.CoderException;
import org.apache.beam.sdk.io.UnboundedSource;

/**
 * How far a source that ends has been read: {@code part} of its parts are behind, {@code elements}
 * of the part after those have been read; {@code done} once all has been read. There is nothing to
 * finalize.
 */
record BoundedReadMark(int part, long elements, boolean done)
    implements UnboundedSource.CheckpointMark {
  static final BoundedReadMark START = new BoundedReadMark(0, 0, false);

  BoundedReadMark {
    if (part < 0 || elements < 0) {
      throw new IllegalArgumentException("part " + part + ", elements " + elements);
    }
  }

  @Override
  public void finalizeCheckpoint() {}

  /** Format: version byte 1, part as int, elements as long, done as byte. */
  static final class MarkCoder extends AtomicCoder<BoundedReadMark> {
    static final MarkCoder INSTANCE = new MarkCoder();
    private static final int VERSION = 1;

    private MarkCoder() {}

    @Override
    public void encode(BoundedReadMark mark, OutputStream out) throws IOException {
      DataOutputStream data = new DataOutputStream(out);
      data.writeByte(VERSION);
      data.writeInt(mark.part());
      data.writeLong(mark.elements());
      data.writeBoolean(mark.done());
    }

    @Override
    public BoundedReadMark decode(InputStream in) throws IOException {
      DataInputStream data = new DataInputStream(in);
      int version = data.readUnsignedByte();
      if (version != VERSION) {
        throw new CoderException(
            "Mark of a bounded read has version " + version + ", only " + VERSION + " is known.");
      }
      return new BoundedReadMark(data.readInt(), data.readLong(), data.readBoolean());
    }

    /** One instance a JVM, also behind Java serialization. */
    private Object readResolve() {
      return INSTANCE;
    }
  }
}
