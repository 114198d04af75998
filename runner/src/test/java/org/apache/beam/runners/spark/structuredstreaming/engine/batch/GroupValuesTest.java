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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.coders.CustomCoder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The values of a group can be iterated again and again, though they are read once. */
class GroupValuesTest {
  /** Its block manager has the directories of temporary files. */
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  private static final int VALUE_BYTES = 100_000;
  private static final int MANY = 3 * GroupValues.MAX_MEMORY_BYTES / VALUE_BYTES;

  /** Values whose first bytes are their numbers. */
  private static final class Numbers implements GroupValues.Source {
    private final int count;
    private final ByteInput value = new ByteInput();
    private int next;

    Numbers(int count) {
      this.count = count;
    }

    @Override
    public boolean next() {
      if (next == count) {
        return false;
      }
      byte[] bytes = new byte[VALUE_BYTES];
      bytes[0] = (byte) next;
      bytes[1] = (byte) (next >> 8);
      value.reset(bytes);
      next++;
      return true;
    }

    @Override
    public ByteInput value() {
      return value;
    }
  }

  /** The coder reads all that is left: a value must be given to it alone. */
  private static final class WholeCoder extends CustomCoder<Object> {
    @Override
    public void encode(Object value, OutputStream out) throws IOException {
      out.write((byte[]) value);
    }

    @Override
    public Object decode(InputStream in) throws IOException {
      byte[] bytes = in.readAllBytes();
      return (bytes[0] & 0xFF) | (bytes[1] & 0xFF) << 8;
    }
  }

  private static GroupValues values(Numbers source) throws IOException {
    return new GroupValues("the step", new WholeCoder(), source);
  }

  private static List<Object> list(Iterable<Object> values) {
    List<Object> found = new ArrayList<>();
    values.forEach(found::add);
    return found;
  }

  private static List<Object> numbers(int count) {
    List<Object> expected = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      expected.add(i);
    }
    return expected;
  }

  @Test
  void aLargeGroupIsIteratedTwice() throws IOException {
    try (GroupValues values = values(new Numbers(MANY))) {
      Iterable<Object> iterable = values.asIterable();
      assertThat(list(iterable), is(numbers(MANY)));
      assertThat(list(iterable), is(numbers(MANY)));
    }
  }

  @Test
  void onlyWhatIsAskedForIsRead() throws IOException {
    Numbers source = new Numbers(MANY);
    try (GroupValues values = values(source)) {
      Iterator<Object> iterator = values.asIterable().iterator();
      iterator.next();
      assertThat(source.next <= GroupValues.MAX_MEMORY_BYTES / VALUE_BYTES + 1, is(true));
    }
  }

  @Test
  void iteratorsThatOvertakeEachOtherSeeTheSame() throws IOException {
    try (GroupValues values = values(new Numbers(MANY))) {
      Iterator<Object> first = values.asIterable().iterator();
      Iterator<Object> second = values.asIterable().iterator();
      List<Object> ofFirst = new ArrayList<>();
      List<Object> ofSecond = new ArrayList<>();
      // Each is ahead of the other for a while.
      for (int round = 0; ofFirst.size() < MANY || ofSecond.size() < MANY; round++) {
        Iterator<Object> runner = round % 2 == 0 ? first : second;
        List<Object> seen = round % 2 == 0 ? ofFirst : ofSecond;
        for (int i = 0; i < 17 && runner.hasNext(); i++) {
          seen.add(runner.next());
        }
      }
      assertThat(ofFirst, is(numbers(MANY)));
      assertThat(ofSecond, is(numbers(MANY)));
    }
  }

  @Test
  void allCanBeReadAhead() throws IOException {
    Numbers source = new Numbers(MANY);
    try (GroupValues values = values(source)) {
      values.readAll();
      assertThat(source.next, is(MANY));
      assertThat(list(values.asIterable()), is(numbers(MANY)));
    }
  }

  @Test
  void aSmallGroupOutlivesItsCall() throws IOException {
    GroupValues values = values(new Numbers(3));
    values.close();
    assertThat(list(values.asIterable()), is(numbers(3)));
  }

  @Test
  void aLargeGroupThatOutlivesItsCallIsRefusedAndNamed() throws IOException {
    GroupValues values = values(new Numbers(MANY));
    Iterable<Object> iterable = values.asIterable();
    values.close();
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> list(iterable));
    assertThat(refused.getMessage(), containsString("the step"));
  }

  @Test
  void anEmptyGroupHasNoValues() throws IOException {
    try (GroupValues values = values(new Numbers(0))) {
      assertThat(list(values.asIterable()), is(List.of()));
    }
  }
}
