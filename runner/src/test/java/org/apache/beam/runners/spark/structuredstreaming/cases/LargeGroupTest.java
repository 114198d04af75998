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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.testing.ForkedProgram;
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
    List<String> arguments = new ArrayList<>();
    arguments.add(groups.toString());
    arguments.add(Integer.toString(values));
    arguments.add(Integer.toString(valueBytes));
    arguments.add(Integer.toString(keyBytes));
    arguments.add("--runner=SparkStructuredStreamingRunner");
    arguments.add("--sparkMaster=local[2]");
    arguments.add("--parallelism=1");
    arguments.add("--sourceSplits=1");
    arguments.add("--maxRestarts=0");
    arguments.addAll(List.of(options));
    new ForkedProgram(LargeGroupPipeline.class, heap, LIMIT_MINUTES)
        .run(directory.resolve("log"), arguments);
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
