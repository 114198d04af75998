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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.beam.runners.core.InMemoryMultimapSideInputView;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.coders.ByteArrayCoder;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.ListCoder;
import org.apache.beam.sdk.coders.NullableCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.transforms.Materializations.MultimapView;
import org.apache.beam.sdk.values.KV;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A multimap on disk answers as one in memory does, whatever it is asked for. */
class DiskMultimapTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[1]");

  static Stream<Arguments> keys() {
    return Stream.of(
        Arguments.of(VarLongCoder.of(), List.of(1L, 2L, 300L)),
        Arguments.of(StringUtf8Coder.of(), List.of("", "a", "b")),
        Arguments.of(ByteArrayCoder.of(), List.of(new byte[0], new byte[] {1})),
        Arguments.of(NullableCoder.of(VarLongCoder.of()), Arrays.asList(null, 1L)),
        Arguments.of(ListCoder.of(VarLongCoder.of()), List.of(List.of(), List.of(1L), List.of(1L, 2L))),
        Arguments.of(ListCoder.of(ByteArrayCoder.of()), List.of(List.of(new byte[] {1}))),
        Arguments.of(
            KvCoder.of(VarLongCoder.of(), StringUtf8Coder.of()), List.of(KV.of(1L, "a"), KV.of(2L, "b"))));
  }

  /** Keys of all coders, others of their types, and what can be no key of one coder or another. */
  private static List<Object> asked() {
    List<Object> asked = new ArrayList<>();
    keys().forEach(arguments -> asked.addAll((List<?>) arguments.get()[1]));
    asked.addAll(
        Arrays.asList(
            7L,
            7,
            "c",
            new byte[] {9},
            null,
            List.of(3L),
            List.of(1),
            List.of("a"),
            Arrays.asList(1L, null),
            KV.of(1L, "b"),
            KV.of(1L, null),
            KV.of(null, "a"),
            KV.of("a", 1L)));
    return asked;
  }

  /** What a lookup gives: the values, or what it throws, as text. */
  private static String answer(MultimapView<Object, Object> multimap, Object key) {
    try {
      List<Object> values = new ArrayList<>();
      multimap.get(key).forEach(values::add);
      return values.toString();
    } catch (RuntimeException e) {
      return e.toString();
    }
  }

  @ParameterizedTest
  @MethodSource("keys")
  void whateverKeyIsAskedFor(Coder<Object> keyCoder, List<Object> keys) {
    List<KV<Object, Object>> pairs = new ArrayList<>();
    for (long value = 0; value < 3; value++) {
      for (Object key : keys) {
        pairs.add(KV.of(key, pairs.size() * 10L));
      }
    }
    Coder<?> valueCoder = VarLongCoder.of();
    @SuppressWarnings("unchecked") // as untyped as elements are between steps
    KvCoder<Object, Object> coder = KvCoder.of(keyCoder, (Coder<Object>) valueCoder);
    MultimapView<Object, Object> inMemory = InMemoryMultimapSideInputView.fromIterable(keyCoder, pairs);
    try (DiskMultimap onDisk = DiskMultimap.of(coder, pairs)) {
      for (Object key : keys) {
        assertThat(String.valueOf(key), answer(onDisk, key).split(",").length, is(3));
      }
      for (Object key : asked()) {
        assertThat(String.valueOf(key), answer(onDisk, key), is(answer(inMemory, key)));
      }
    }
  }
}
