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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.sdk.coders.Coder;

/**
 * The values of one group, read from a stream that can be read once, for an {@link Iterable} that can
 * be iterated as often as one likes, by several iterators at a time.
 *
 * <p>With {@code n} values read from the stream so far: an iterator that is before {@code n} takes the
 * next value from what was kept, one that is at {@code n} takes it from the stream, and it is kept.
 * Up to {@value #MAX_MEMORY_BYTES} bytes are kept in memory, what comes behind goes to a file. So a
 * value is decoded anew by each iterator, and one at a time is in memory.
 *
 * <p>A group that fits in memory can be iterated for ever. A larger one can be until {@link #close},
 * that is while the element it is part of is processed.
 */
final class GroupValues implements Closeable {
  static final int MAX_MEMORY_BYTES = 4 << 20;

  private final String stepName;
  private final Coder<Object> coder;
  private final Source source;
  private final ByteOutput memory = new ByteOutput(256);
  private long inMemory;
  private long count;
  private boolean exhausted;
  private boolean closed;
  private ValueFile file;

  /** A stream of encoded values. */
  interface Source {
    /** Moves to the next value; false if there is none. */
    boolean next() throws IOException;

    /** The bytes of the current value, all that is left of the input. */
    ByteInput value();
  }

  /** Reads as much as memory takes. */
  GroupValues(String stepName, Coder<Object> coder, Source source) throws IOException {
    this.stepName = stepName;
    this.coder = coder;
    this.source = source;
    boolean more = true;
    while (more && memory.size() < MAX_MEMORY_BYTES) {
      more = source.next();
      if (more) {
        keep(source.value());
        inMemory++;
      }
    }
    exhausted = !more;
  }

  /** Reads the stream to its end. */
  void readAll() throws IOException {
    boolean more = pull();
    while (more) {
      more = pull();
    }
  }

  Iterable<Object> asIterable() {
    return Values::new;
  }

  @Override
  public void close() {
    closed = true;
    if (file != null) {
      file.close();
    }
  }

  /** Takes a value from the stream and keeps it; false at the stream's end. */
  private boolean pull() throws IOException {
    if (exhausted) {
      return false;
    }
    exhausted = !source.next();
    if (exhausted) {
      return false;
    }
    if (file == null) {
      file = new ValueFile();
    }
    ByteInput value = source.value();
    file.append(value.array(), value.position(), value.available());
    count++;
    return true;
  }

  private void keep(ByteInput value) {
    memory.writeVarInt(value.available());
    memory.write(value.array(), value.position(), value.available());
    count++;
  }

  /** Iterates from the beginning. */
  private final class Values implements Iterator<Object> {
    private final ByteInput kept = new ByteInput();
    private final ByteInput value = new ByteInput();
    private long next;
    private ValueFile.Reader reader;

    Values() {
      kept.reset(memory.array(), 0, memory.size());
    }

    @Override
    public boolean hasNext() {
      if (next < count) {
        return true;
      }
      if (exhausted) {
        return false;
      }
      checkOpen();
      try {
        return pull();
      } catch (IOException e) {
        throw failure("the values of a group cannot be read", e);
      }
    }

    @Override
    public Object next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      try {
        if (next < inMemory) {
          int length = kept.readLength();
          value.reset(kept.array(), kept.position(), length);
          kept.seek(kept.position() + length);
        } else {
          checkOpen();
          readBehindMemory();
        }
        next++;
        return coder.decode(value);
      } catch (IOException e) {
        throw failure("a value of a group cannot be read with " + coder, e);
      }
    }

    /** What was taken from the stream last need not come out of the file. */
    private void readBehindMemory() throws IOException {
      if (next == count - 1 && !exhausted) {
        ByteInput last = source.value();
        value.reset(last.array(), last.position(), last.available());
        return;
      }
      if (reader == null) {
        reader = file.reader();
      }
      reader.read(next - inMemory, value);
    }

    private void checkOpen() {
      if (closed) {
        throw new IllegalStateException(
            stepName
                + ": the values of a large group are iterated behind the call that they were given"
                + " to. Copy what is needed for longer.");
      }
    }

    private UncheckedIOException failure(String what, IOException e) {
      return new UncheckedIOException(stepName + ": " + what, e);
    }
  }
}
