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
package org.apache.beam.runners.spark.structuredstreaming.engine.bytes;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What is written is read again, and what is not there is not read. */
class ByteOutputTest {
  private static final List<Long> NUMBERS =
      List.of(0L, 1L, 127L, 128L, 1L << 35, Long.MAX_VALUE, -1L, Long.MIN_VALUE);

  @Test
  void whatIsWrittenIsReadAgain() {
    ByteOutput output = new ByteOutput(1);
    for (long number : NUMBERS) {
      output.writeVarLong(number).writeLong(number).writeOrderedLong(number);
    }
    output
        .writeByte(-2)
        .writeVarInt(300)
        .writeSized("t\u00e9xt")
        .writeSized(new byte[] {1, 2})
        .writeSized(new ByteOutput().writeByte(7))
        .writeBytes(new byte[] {8, 9});

    for (ByteInput input : List.of(output.input(), new ByteInput(output.toByteArray()))) {
      for (long number : NUMBERS) {
        assertThat(input.readVarLong(), is(number));
        assertThat(input.readLong(), is(number));
        assertThat(input.readOrderedLong(), is(number));
      }
      assertThat(input.readByte(), is((byte) -2));
      assertThat(input.readVarInt(), is(300));
      assertThat(input.readText(), is("t\u00e9xt"));
      assertThat(input.readSized(), is(new byte[] {1, 2}));
      assertThat(input.readSizedInput().readByte(), is((byte) 7));
      assertThat(input.copy().readRest(), is(new byte[] {8, 9}));
      assertThat(input.available(), is(2));
      assertThat(input.readRest(), is(new byte[] {8, 9}));
      assertThat(input.read(), is(-1));
    }
  }

  @Test
  void unsignedOrderOfBytesIsTheOrderOfNumbers() {
    List<Long> sorted = NUMBERS.stream().sorted().toList();
    assertThat(
        NUMBERS.stream()
            .map(number -> new ByteOutput().writeOrderedLong(number).toByteArray())
            .sorted(Arrays::compareUnsigned)
            .map(bytes -> new ByteInput(bytes).readOrderedLong())
            .toList(),
        is(sorted));
  }

  @Test
  void nothingIsReadBeyondTheEnd() {
    byte[] cut = new ByteOutput().writeVarInt(4).writeBytes(new byte[] {1, 2, 3}).toByteArray();
    Stream.<Executable>of(
            () -> new ByteInput().readByte(),
            () -> new ByteInput(cut).readBytes(5),
            () -> new ByteInput(cut).readLong(),
            () -> new ByteInput(new byte[] {-1}).readVarLong(),
            () -> new ByteInput(cut).readSized(),
            () -> new ByteInput(cut).readText(),
            () -> new ByteInput(cut).readSizedInput())
        .forEach(
            read ->
                assertThat(
                    assertThrows(IllegalStateException.class, read).getMessage(),
                    containsString("bytes expected at byte")));
  }
}
