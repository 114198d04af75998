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
package org.apache.beam.runners.spark.structuredstreaming.cases;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups and keys that are large for the memory of the process, in processes of their own. */
class LargeGroupTest {
  private static final int MEGABYTE = 1 << 20;
  private static final long LIMIT_MINUTES = 5;

  @TempDir Path directory;

  /** Runs {@link LargeGroupPipeline} in a JVM with a heap of {@code heap} and returns its groups. */
  private List<String> groups(String heap, int values, int valueBytes, int keyBytes, String... options)
      throws IOException, InterruptedException {
    Path groups = directory.resolve("groups");
    Path log = directory.resolve("log");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx" + heap);
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> argument.startsWith("--add-opens"))
        .forEach(command::add);
    command.add("-Dspark.ui.enabled=false");
    command.add("-Dspark.driver.bindAddress=127.0.0.1");
    command.add("-Dspark.driver.host=localhost");
    // A JVM that has used its heap up is not to go on for long with what is left of it.
    command.add("-XX:+ExitOnOutOfMemoryError");
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(LargeGroupPipeline.class.getName());
    command.add(groups.toString());
    command.add(Integer.toString(values));
    command.add(Integer.toString(valueBytes));
    command.add(Integer.toString(keyBytes));
    command.add("--runner=SparkStructuredStreamingRunner");
    command.add("--sparkMaster=local[2]");
    command.add("--parallelism=1");
    command.add("--sourceSplits=1");
    command.add("--maxRestarts=0");
    command.addAll(List.of(options));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      boolean ended = process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES);
      assertThat("within " + LIMIT_MINUTES + " minutes: " + Files.readString(log), ended, is(true));
      assertThat(Files.readString(log), process.exitValue(), is(0));
    } finally {
      process.destroyForcibly();
    }
    return Files.readAllLines(groups);
  }

  /**
   * apache/beam#33520, apache/beam#30184, apache/beam#11055: 400 MB under one key and 512 MB of heap;
   * all in one epoch, and over several.
   */
  @ParameterizedTest
  @ValueSource(longs = {-1, 30})
  void aGroupIsNeverHeldInMemoryAsAWhole(long recordsPerEpoch) throws Exception {
    assertThat(
        groups(
            "512m",
            100,
            4 * MEGABYTE,
            1,
            "--maxRecordsPerMicroBatch=" + recordsPerEpoch,
            "--maxBatchDurationMillis=600000"),
        contains("1 key bytes: 100 values, " + 400L * MEGABYTE + " bytes, sum 4950"));
  }

  /** apache/beam#21707: a key of 100 MB. */
  @Test
  void aKeyMayBeOfAHundredMegabytes() throws Exception {
    assertThat(
        groups("3g", 2, 1, 100 * MEGABYTE),
        contains(100 * MEGABYTE + " key bytes: 2 values, 2 bytes, sum 1"));
  }
}
