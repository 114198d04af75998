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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.containsString;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.UUID;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStoreFixture.StoreKind;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.DurableFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** State goes on only as what it was committed as. */
class StateOwnerTest {
  private static final UUID CHECKPOINT = UUID.randomUUID();

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
  void ofThisCheckpointLevelPartitionAndVersionItGoesOn(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    for (int epoch = 0; epoch < 3; epoch++) {
      commit(fixture, new StateOwner(CHECKPOINT, fixture.id()));
      fixture.restart();
    }
  }

  @ParameterizedTest
  @EnumSource
  void ofAnyOtherItIsRefused(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    commit(fixture, new StateOwner(CHECKPOINT, fixture.id()));
    String is = "version 1 of level 1, partition 0 of checkpoint " + CHECKPOINT;
    StoreStateRows rows = fixture.openRows();
    UUID another = UUID.randomUUID();
    StateOwner ofAnother = new StateOwner(another, fixture.id());
    assertThat(
        refusal(ofAnother, rows, 1),
        allOf(
            containsString(is + ", not version 1 of level 1, partition 0 of checkpoint " + another),
            containsString(directory.toString()),
            containsString(DurableFile.WHAT_TO_DO)));
    String root = directory.toUri().toString();
    StateOwner ofPartition = new StateOwner(CHECKPOINT, StateStores.id(root, 1, 7, another));
    assertThat(
        refusal(ofPartition, rows, 1),
        containsString(is + ", not version 1 of level 1, partition 7 "));
    StateOwner ofLevel = new StateOwner(CHECKPOINT, StateStores.id(root, 2, 0, another));
    assertThat(
        refusal(ofLevel, rows, 1),
        containsString(is + ", not version 1 of level 2, partition 0 "));
    StateOwner right = new StateOwner(CHECKPOINT, fixture.id());
    assertThat(
        refusal(right, rows, 2), containsString(is + ", not version 2 of level 1, partition 0 "));
    fixture.abort();
  }

  @ParameterizedTest
  @EnumSource
  void whatDoesNotSayWhoseItIsIsRefused(StoreKind provider) {
    StateStoreFixture fixture = new StateStoreFixture(provider, directory);
    fixture.openRows();
    fixture.commitRows();
    StoreStateRows rows = fixture.openRows();
    StateOwner owner = new StateOwner(CHECKPOINT, fixture.id());
    assertThat(refusal(owner, rows, 1), containsString("nobody's, not version 1"));
    fixture.abort();
  }

  private static void commit(StateStoreFixture fixture, StateOwner owner) {
    StoreStateRows rows = fixture.openRows();
    owner.check(rows, fixture.version());
    owner.note(rows, fixture.version() + 1);
    fixture.commitRows();
  }

  private static String refusal(StateOwner owner, StoreStateRows rows, long version) {
    return assertThrows(StateUnavailableException.class, () -> owner.check(rows, version)).getMessage();
  }
}
