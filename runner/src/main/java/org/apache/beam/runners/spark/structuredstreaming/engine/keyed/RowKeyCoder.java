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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.schemas.Schema;
import org.apache.beam.sdk.schemas.SchemaCoder;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.Row;

/**
 * A coder of keys that hold rows, by which rows are equal if the names and values of their fields are.
 *
 * <p>A Row is equal to another only if their schemas are, and a Schema remembers its hash code, which is
 * made of those of enum constants and so differs from JVM to JVM: two equal schemas, one of them made on
 * the driver and one on an executor, say that they differ. Bytes will not do either: the entries of a map
 * among the fields have no order.
 */
final class RowKeyCoder<T> extends CustomCoder<T> {
  private final Coder<T> keyCoder;

  private RowKeyCoder(Coder<T> keyCoder) {
    this.keyCoder = keyCoder;
  }

  /** The coder to compare keys by: as it is, unless there are rows in them. */
  static <T> Coder<T> of(Coder<T> keyCoder) {
    return hasRows(keyCoder) ? new RowKeyCoder<>(keyCoder) : keyCoder;
  }

  private static boolean hasRows(Coder<?> coder) {
    return coder instanceof SchemaCoder<?>
        || coder.getCoderArguments().stream().anyMatch(RowKeyCoder::hasRows);
  }

  @Override
  public Object structuralValue(T key) {
    return plain(key);
  }

  /** What a value holds, as objects whose {@code equals} asks for nothing else. */
  private static Object plain(Object value) {
    if (value instanceof Row row) {
      List<Object> fields = new ArrayList<>();
      for (int i = 0; i < row.getFieldCount(); i++) {
        Schema.Field field = row.getSchema().getField(i);
        fields.add(field.getName());
        fields.add(plain(row.getValue(i)));
      }
      return fields;
    }
    if (value instanceof KV<?, ?> pair) {
      return KV.of(plain(pair.getKey()), plain(pair.getValue()));
    }
    if (value instanceof Map<?, ?> map) {
      Map<Object, Object> entries = new HashMap<>();
      map.forEach((key, each) -> entries.put(plain(key), plain(each)));
      return entries;
    }
    if (value instanceof Iterable<?> many) {
      List<Object> all = new ArrayList<>();
      many.forEach(each -> all.add(plain(each)));
      return all;
    }
    return value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value;
  }

  @Override
  public void encode(T key, OutputStream out) throws IOException {
    keyCoder.encode(key, out);
  }

  @Override
  public T decode(InputStream in) throws IOException {
    return keyCoder.decode(in);
  }

  @Override
  public void verifyDeterministic() throws NonDeterministicException {
    keyCoder.verifyDeterministic();
  }
}
