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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.DurableFile;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From which epoch on a pipeline drains, and that its checkpoint says so first. */
class DrainNoteTest {
  @TempDir Path root;

  private Drain drain(long nextEpoch) {
    return Drain.of(CheckpointDirectory.open(root.toString(), new Configuration()), nextEpoch);
  }

  private Path file() {
    return root.resolve("beam/drain");
  }

  private void makeDirectory() throws IOException {
    Files.createDirectories(root.resolve("beam"));
  }

  private String refusal(long nextEpoch) {
    return assertThrows(IllegalStateException.class, () -> drain(nextEpoch)).getMessage();
  }

  @Test
  void itBeginsWithTheEpochThatBeginsBehindTheRequestAndStaysThere() throws IOException {
    makeDirectory();
    Drain drain = drain(0);
    drain.epochBegins(4);
    assertThat(drain.isDraining(4), is(false));
    assertThat(drain.isWaitingForEpoch(), is(false));
    drain.request();
    assertThat(drain.isWaitingForEpoch(), is(true));
    assertThat(Files.exists(file()), is(false));
    drain.epochBegins(5);
    assertThat(Files.exists(file()), is(true));
    assertThat(drain.isWaitingForEpoch(), is(false));
    drain.epochBegins(6);
    drain.request();
    drain.epochBegins(7);
    for (Drain each : List.of(drain, drain(5), drain(9))) {
      assertThat(each.isDraining(4), is(false));
      assertThat(each.isDraining(5), is(true));
      assertThat(each.isDraining(6), is(true));
      assertThat(each.isWaitingForEpoch(), is(false));
    }
  }

  @Test
  void itDoesNotBeginWhereThatCannotBeNoted() throws IOException {
    makeDirectory();
    Drain drain = drain(0);
    drain.request();
    Files.delete(root.resolve("beam"));
    Files.createFile(root.resolve("beam"));
    UncheckedIOException thrown =
        assertThrows(UncheckedIOException.class, () -> drain.epochBegins(5));
    assertThat(
        thrown.getMessage(),
        allOf(containsString("drains from epoch 5"), containsString(root.toString())));
    assertThat(drain.isDraining(5), is(false));
    assertThat(drain.isWaitingForEpoch(), is(true));
    Files.delete(root.resolve("beam"));
    makeDirectory();
    drain.epochBegins(6);
    assertThat(drain(6).isDraining(5), is(false));
    assertThat(drain(6).isDraining(6), is(true));
  }

  @Test
  void everyFlippedAndEveryMissingByteIsAnErrorByName() throws IOException {
    makeDirectory();
    Drain drain = drain(0);
    drain.request();
    drain.epochBegins(5);
    byte[] good = Files.readAllBytes(file());
    Files.deleteIfExists(file().resolveSibling(".drain.crc"));
    for (int at = 0; at < good.length; at++) {
      byte[] flipped = good.clone();
      flipped[at] = (byte) (flipped[at] ^ (1 << (at % 8)));
      for (byte[] bad : List.of(flipped, Arrays.copyOf(good, at))) {
        Files.write(file(), bad);
        assertThat(
            refusal(5),
            allOf(containsString(file().toString()), containsString(DurableFile.WHAT_TO_DO)));
      }
    }
    Files.write(file(), good);
    assertThat(drain(5).isDraining(5), is(true));
  }

  @Test
  void anEpochThatIsYetToComeIsAnError() throws IOException {
    makeDirectory();
    Drain drain = drain(0);
    drain.request();
    drain.epochBegins(5);
    assertThat(
        refusal(4),
        allOf(
            containsString(file().toString()),
            containsString("drains from epoch 5 on, but the next epoch is 4"),
            containsString(DurableFile.WHAT_TO_DO)));
  }
}
