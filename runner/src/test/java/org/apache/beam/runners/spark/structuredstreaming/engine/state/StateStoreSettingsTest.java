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
import static org.hamcrest.Matchers.endsWith;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import org.apache.spark.sql.execution.streaming.state.RocksDBConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.internal.SQLConf;
import org.junit.jupiter.api.Test;

/** Shows which settings the stores run with. */
class StateStoreSettingsTest {
  @Test
  void withoutSettingsItIsRocksDbWithChangelogsAndWithoutRowCounts() {
    StateStoreConf conf = StateStoreSettings.of(new SQLConf());
    assertThat(conf.providerClass(), endsWith(".RocksDBStateStoreProvider"));
    assertThat(RocksDBConf.apply(conf).enableChangelogCheckpointing(), is(true));
    assertThat(RocksDBConf.apply(conf).trackTotalNumberOfRows(), is(false));
  }

  @Test
  void whatTheUserSetWinsHoweverItIsSpelled() {
    SQLConf session = new SQLConf();
    session.setConfString(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider");
    session.setConfString(
        "spark.sql.streaming.stateStore.rocksdb.changelogcheckpointing.enabled", "false");
    session.setConfString("spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows", "true");
    StateStoreConf conf = StateStoreSettings.of(session);
    assertThat(conf.providerClass(), endsWith(".HDFSBackedStateStoreProvider"));
    assertThat(RocksDBConf.apply(conf).enableChangelogCheckpointing(), is(false));
    assertThat(RocksDBConf.apply(conf).trackTotalNumberOfRows(), is(true));
  }

  @Test
  void theSessionsConfigurationStaysAsItWas() {
    SQLConf session = new SQLConf();
    StateStoreSettings.of(session);
    assertThat(session.stateStoreProviderClass(), not(endsWith(".RocksDBStateStoreProvider")));
  }
}
