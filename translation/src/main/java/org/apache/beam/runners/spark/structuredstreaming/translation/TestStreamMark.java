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
 * How far a {@link TestStreamSource} has been read: all that it gives in the first {@code epochs}
 * epochs. There is nothing to finalize.
 */
record TestStreamMark(long epochs) implements UnboundedSource.CheckpointMark {
  TestStreamMark {
    if (epochs < 0) {
      throw new IllegalArgumentException("epochs " + epochs);
    }
  }

  @Override
  public void finalizeCheckpoint() {}

  /** Format: version byte 1, epochs as long. */
  static final class MarkCoder extends AtomicCoder<TestStreamMark> {
    static final MarkCoder INSTANCE = new MarkCoder();
    private static final int VERSION = 1;

    private MarkCoder() {}

    @Override
    public void encode(TestStreamMark mark, OutputStream out) throws IOException {
      DataOutputStream data = new DataOutputStream(out);
      data.writeByte(VERSION);
      data.writeLong(mark.epochs());
    }

    @Override
    public TestStreamMark decode(InputStream in) throws IOException {
      DataInputStream data = new DataInputStream(in);
      int version = data.readUnsignedByte();
      if (version != VERSION) {
        throw new CoderException(
            "Mark of a TestStream has version " + version + ", only " + VERSION + " is known.");
      }
      return new TestStreamMark(data.readLong());
    }

    /** One instance a JVM, also behind Java serialization. */
    private Object readResolve() {
      return INSTANCE;
    }
  }
}
