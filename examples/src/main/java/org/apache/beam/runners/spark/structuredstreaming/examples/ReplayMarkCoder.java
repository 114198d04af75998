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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.beam.sdk.coders.AtomicCoder;
import org.apache.beam.sdk.coders.CoderException;

/** Writes a {@link ReplayMark} as a format byte and its numbers. */
final class ReplayMarkCoder extends AtomicCoder<ReplayMark> {
  private static final int FORMAT = 1;

  @Override
  public void encode(ReplayMark mark, OutputStream stream) throws IOException {
    DataOutputStream out = new DataOutputStream(stream);
    out.writeByte(FORMAT);
    out.writeInt(mark.segment());
    out.writeLong(mark.position());
    out.writeLong(mark.line());
    out.writeDouble(mark.replayed());
    out.flush();
  }

  @Override
  public ReplayMark decode(InputStream stream) throws IOException {
    DataInputStream in = new DataInputStream(stream);
    int format = in.readUnsignedByte();
    if (format != FORMAT) {
      throw new CoderException("A replay mark has the format " + format + ", expected is " + FORMAT);
    }
    return new ReplayMark(in.readInt(), in.readLong(), in.readLong(), in.readDouble());
  }
}
