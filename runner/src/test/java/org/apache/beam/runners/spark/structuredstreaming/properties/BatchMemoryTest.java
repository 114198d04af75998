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
package org.apache.beam.runners.spark.structuredstreaming.properties;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.apache.beam.runners.spark.structuredstreaming.testing.ForkedProgram;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Batch pipelines whose groups, state and accumulators are larger than the heap: {@link
 * BatchMemoryPipeline} in processes of their own. The whole sizes are those of {@code
 * -Dbatchmemory.whole=true}.
 */
class BatchMemoryTest {
  private static final boolean WHOLE = Boolean.getBoolean("batchmemory.whole");
  private static final long LIMIT_MINUTES = 20;

  @TempDir Path directory;

  /** What is larger than a heap; a value has 1000 bytes, an entry of a combine some 50. */
  private enum Case {
    GROUP("256m", 450_000, "1g", 4_300_000),
    SESSION("256m", 350_000, "512m", 1_600_000),
    STATE("256m", 350_000, "512m", 1_600_000),
    COMBINE("256m", 4_000_000, "2g", 50_000_000),
    LISTS("256m", 350_000, "512m", 1_600_000);

    private final String smallHeap;
    private final long smallSize;
    private final String wholeHeap;
    private final long wholeSize;

    Case(String smallHeap, long smallSize, String wholeHeap, long wholeSize) {
      this.smallHeap = smallHeap;
      this.smallSize = smallSize;
      this.wholeHeap = wholeHeap;
      this.wholeSize = wholeSize;
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsLargerThanTheHeapIsProcessed(Case larger) throws Exception {
    Path log = directory.resolve("log");
    new ForkedProgram(
            BatchMemoryPipeline.class, WHOLE ? larger.wholeHeap : larger.smallHeap, LIMIT_MINUTES)
        .run(
            log,
            List.of(
                larger.name().toLowerCase(Locale.ROOT),
                Long.toString(WHOLE ? larger.wholeSize : larger.smallSize),
                "--runner=SparkStructuredStreamingRunner",
                "--sparkMaster=local[2]"));
    System.out.println(Files.readString(log));
  }
}
