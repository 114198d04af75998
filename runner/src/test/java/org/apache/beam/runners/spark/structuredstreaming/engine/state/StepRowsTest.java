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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import static org.apache.beam.runners.spark.structuredstreaming.engine.state.StoreStateRowsTest.bytes;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStoreFixture.StoreKind;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shows that a step's totals are exact and durable. */
class StepRowsTest {
  private static final byte KIND = RowKeys.FIRST_ENGINE_KIND;

  @TempDir Path directory;

  @BeforeAll
  static void startSpark() {
    StateStoreFixture.startSpark();
  }

  @AfterAll
  static void stopSpark() {
    StateStoreFixture.stopSpark();
  }

  @ParameterizedTest
  @EnumSource
  void totalsAreThoseOfTheStepsRowsInEveryEpochWithoutAScan(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    Random random = new Random(7);
    Map<String, Long> model = new HashMap<>();
    for (int epoch = 0; epoch < 6; epoch++) {
      StateRows level = fixture.begin();
      StepRows step = new StepRows(level, 1, "First");
      StepRows other = new StepRows(level, 2, "Second");
      assertThat(step.rows(), is((long) model.size()));
      for (int i = 0; i < 200; i++) {
        String suffix = "s" + random.nextInt(40);
        byte[] prefix = step.prefix(KIND).writeByte(random.nextInt(3)).toByteArray();
        String key = prefix[9] + suffix;
        if (random.nextInt(3) == 0) {
          step.remove(prefix, bytes(suffix));
          model.remove(key);
        } else {
          byte[] value = new byte[random.nextInt(50)];
          step.put(prefix, bytes(suffix), value);
          model.put(key, (long) prefix.length + suffix.length() + value.length);
        }
        other.put(other.prefix(KIND).toByteArray(), bytes("s" + i), bytes("other"));
      }
      assertThat(step.rows(), is((long) model.size()));
      assertThat(step.bytes(), is(model.values().stream().mapToLong(Long::longValue).sum()));
      assertThat(other.rows(), is(200L));
      step.flush();
      other.flush();
      fixture.commit();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aStepThatHasRemovedItsRowsLeavesNothing(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    StepRows step = fixture.beginStep();
    byte[] prefix = step.prefix(KIND).toByteArray();
    step.put(prefix, bytes("a"), bytes("1"));
    step.flush();
    fixture.commit();
    assertThat(fixture.storedRows().size(), is(2));
    step = fixture.beginStep();
    step.remove(prefix, bytes("a"));
    assertThat(step.rows(), is(0L));
    assertThat(step.bytes(), is(0L));
    step.flush();
    fixture.commit();
    assertThat(fixture.storedRows(), equalTo(List.of()));
  }

  @Test
  void aPrefixOfAnotherStepIsRefused() {
    StepRows step = new StepRows(new CountingStateRows(), 1, "Count/Step");
    byte[] foreign = RowKeys.prefix(2, KIND).toByteArray();
    IllegalArgumentException error =
        assertThrows(
            IllegalArgumentException.class, () -> step.put(foreign, bytes("a"), bytes("1")));
    assertThat(error.getMessage(), containsString("Count/Step"));
  }
}
