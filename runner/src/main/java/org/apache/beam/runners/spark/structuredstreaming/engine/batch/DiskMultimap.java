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
import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.LongFunction;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.TemporaryStore;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.transforms.Materializations.MultimapView;
import org.apache.beam.sdk.values.KV;

/**
 * A multimap that is looked up on disk. Keys are equal if their bytes are, so their coder has to be
 * deterministic.
 *
 * <p>Rows, with {@code n} from 0: {@code (COUNTS) -> (key): number of values}; {@code (KEYS) -> (n): key};
 * {@code (VALUES, key) -> (n): value}. All are read by their numbers: an iteration that is left half way
 * holds nothing. Any number of threads may read it; deleted by {@link #close}.
 */
final class DiskMultimap implements MultimapView<Object, Object>, Closeable {
  private static final byte[] COUNTS = {0};
  private static final byte[] KEYS = {1};
  private static final byte VALUES = 2;

  private final Coder<Object> keyCoder;
  private final Coder<Object> valueCoder;
  private final TemporaryStore store = new TemporaryStore(false);
  private long numberOfKeys;

  private DiskMultimap(KvCoder<Object, Object> coder) {
    this.keyCoder = coder.getKeyCoder();
    this.valueCoder = coder.getValueCoder();
  }

  /**
   * A multimap of all pairs.
   *
   * @param coder its keys' structural values tell keys apart where the multimap is in memory
   */
  static DiskMultimap of(KvCoder<Object, Object> coder, Iterable<KV<Object, Object>> pairs) {
    DiskMultimap multimap = new DiskMultimap(coder);
    try {
      for (KV<Object, Object> pair : pairs) {
        multimap.add(pair.getKey(), pair.getValue());
      }
      return multimap;
    } catch (RuntimeException | Error e) {
      multimap.close();
      throw e;
    }
  }

  private synchronized void add(Object key, Object value) {
    byte[] keyBytes = encode(keyCoder, key);
    long count = count(keyBytes);
    if (count == 0) {
      store.insert(KEYS, number(numberOfKeys++), keyBytes);
    }
    store.insert(valuesOf(keyBytes), number(count), encode(valueCoder, value));
    store.put(COUNTS, keyBytes, number(count + 1));
  }

  @Override
  public Iterable<Object> get() {
    return numbered(numberOfKeys, this::key);
  }

  @Override
  public Iterable<Object> get(Object key) {
    byte[] keyBytes;
    try {
      keyBytes = encode(keyCoder, key);
    } catch (RuntimeException e) {
      // The same map in memory asks for this alone. It throws what that throws; where it does not, as of
      // an object of another class or of a list that holds null, there is nothing of such a key.
      keyCoder.structuralValue(key);
      return Collections.emptyList();
    }
    return numbered(count(keyBytes), number -> value(keyBytes, number));
  }

  private static Iterable<Object> numbered(long count, LongFunction<Object> read) {
    return () ->
        new Iterator<>() {
          private long next;

          @Override
          public boolean hasNext() {
            return next < count;
          }

          @Override
          public Object next() {
            if (!hasNext()) {
              throw new NoSuchElementException();
            }
            return read.apply(next++);
          }
        };
  }

  private synchronized Object key(long number) {
    return decode(keyCoder, store.get(KEYS, number(number)));
  }

  private synchronized Object value(byte[] keyBytes, long number) {
    return decode(valueCoder, store.get(valuesOf(keyBytes), number(number)));
  }

  private synchronized long count(byte[] keyBytes) {
    byte[] count = store.get(COUNTS, keyBytes);
    return count == null ? 0 : new ByteInput(count).readVarLong();
  }

  private static byte[] valuesOf(byte[] keyBytes) {
    return new ByteOutput(keyBytes.length + 1).writeByte(VALUES).writeBytes(keyBytes).toByteArray();
  }

  private static byte[] number(long number) {
    return new ByteOutput().writeVarLong(number).toByteArray();
  }

  private static byte[] encode(Coder<Object> coder, Object value) {
    ByteOutput bytes = new ByteOutput(64);
    try {
      coder.encode(value, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot be encoded with " + coder, e);
    }
    return bytes.toByteArray();
  }

  private static Object decode(Coder<Object> coder, byte[] bytes) {
    try {
      return coder.decode(new ByteInput(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot be decoded with " + coder, e);
    }
  }

  @Override
  public synchronized void close() {
    store.close();
  }
}
