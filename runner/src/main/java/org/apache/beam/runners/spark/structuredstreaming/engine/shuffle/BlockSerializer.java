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

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.apache.spark.serializer.DeserializationStream;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerInstance;
import scala.reflect.ClassTag;

/**
 * Writes {@link Block}s as four bytes of length and the bytes. The key of a shuffle record is its
 * partition, which the reader knows, and is not written.
 *
 * <p>Records are self-contained, so Spark may move serialized ones about ({@link
 * #supportsRelocationOfSerializedObjects}) and takes its serialized shuffle path.
 */
public final class BlockSerializer extends Serializer implements Serializable {
  @Override
  public SerializerInstance newInstance() {
    return new Instance();
  }

  @Override
  public boolean supportsRelocationOfSerializedObjects() {
    return true;
  }

  private static final class Instance extends SerializerInstance {
    @Override
    public <T> ByteBuffer serialize(T value, ClassTag<T> tag) {
      throw onlyStreams();
    }

    @Override
    public <T> T deserialize(ByteBuffer bytes, ClassTag<T> tag) {
      throw onlyStreams();
    }

    @Override
    public <T> T deserialize(ByteBuffer bytes, ClassLoader loader, ClassTag<T> tag) {
      throw onlyStreams();
    }

    @Override
    public SerializationStream serializeStream(OutputStream out) {
      return new Writer(out);
    }

    @Override
    public DeserializationStream deserializeStream(InputStream in) {
      return new Reader(in);
    }

    private static UnsupportedOperationException onlyStreams() {
      return new UnsupportedOperationException(
          "Blocks are written to and read from shuffle streams only.");
    }
  }

  private static final class Writer extends SerializationStream {
    private final DataOutputStream out;

    Writer(OutputStream out) {
      this.out = new DataOutputStream(out);
    }

    @Override
    public <T> SerializationStream writeKey(T key, ClassTag<T> tag) {
      return this;
    }

    @Override
    public <T> SerializationStream writeValue(T value, ClassTag<T> tag) {
      return writeObject(value, tag);
    }

    @Override
    public <T> SerializationStream writeObject(T value, ClassTag<T> tag) {
      Block block = (Block) value;
      try {
        out.writeInt(block.length());
        out.write(block.bytes(), 0, block.length());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return this;
    }

    @Override
    public void flush() {
      try {
        out.flush();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() {
      try {
        out.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final class Reader extends DeserializationStream {
    private static final Integer NO_KEY = 0;

    private final DataInputStream in;

    Reader(InputStream in) {
      this.in = new DataInputStream(in);
    }

    /**
     * Reads the length as its first byte and the rest: an end before the first byte is the stream's
     * proper end, which Spark expects as an {@link EOFException} out of here; an end behind it is a
     * truncated block, which must not pass for one.
     */
    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // Spark's signature
    public <T> T readObject(ClassTag<T> tag) {
      int first = readFirstByte();
      if (first < 0) {
        throw BlockSerializer.<RuntimeException>asUnchecked(new EOFException());
      }
      try {
        return (T) readBlock(first);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private int readFirstByte() {
      try {
        return in.read();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private Block readBlock(int firstByte) throws IOException {
      try {
        int length = firstByte << 24 | in.readUnsignedByte() << 16 | in.readUnsignedShort();
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return new Block(bytes, length);
      } catch (EOFException e) {
        throw new IOException("A shuffle block ends before its length says: the stream is truncated.", e);
      }
    }

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // Spark's signature
    public <T> T readKey(ClassTag<T> tag) {
      return (T) NO_KEY;
    }

    @Override
    public void close() {
      try {
        in.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Throws {@code failure} as it is: Scala's signatures have no place for checked exceptions. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // the cast is never executed
  private static <E extends Throwable> RuntimeException asUnchecked(Throwable failure) throws E {
    throw (E) failure;
  }
}
