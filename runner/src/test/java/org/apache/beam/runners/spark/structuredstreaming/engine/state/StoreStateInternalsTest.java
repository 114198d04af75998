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

import java.nio.charset.StandardCharsets;
import org.apache.beam.runners.core.StateInternals;
import org.apache.beam.runners.core.StateInternalsTest;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateStoreFixture.StoreKind;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Rule;
import org.junit.rules.TemporaryFolder;

/** Beam's own tests of what a runner's state must do, over a real store. JUnit 4, as they are. */
public abstract class StoreStateInternalsTest extends StateInternalsTest {
  @Rule public final TemporaryFolder directory = new TemporaryFolder();

  private StateStoreFixture fixture;

  abstract StoreKind provider();

  @BeforeClass
  public static void startSpark() {
    StateStoreFixture.startSpark();
  }

  @AfterClass
  public static void stopSpark() {
    StateStoreFixture.stopSpark();
  }

  @Override
  protected StateInternals createStateInternals() {
    fixture = new StateStoreFixture(provider(), directory.getRoot().toPath());
    StepRows rows = fixture.beginStep();
    byte[] key = "dummyKey".getBytes(StandardCharsets.UTF_8);
    return new StepStateInternals<>("dummyKey", key, rows, new HoldIndex(rows), new CellMemory());
  }

  @After
  public void abort() {
    fixture.abort();
  }
}
