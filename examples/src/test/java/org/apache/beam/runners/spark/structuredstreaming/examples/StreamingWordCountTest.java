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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.anEmptyMap;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.beam.sdk.PipelineResult.State;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example from its text files to its result files, beside a plain count. */
class StreamingWordCountTest {
  private static final Instant START = Instant.parse("2024-01-01T00:00:00Z");

  @TempDir Path directory;

  @Test
  void writesOneFileAWindowWithTheCountsOfAPlainCount() throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      lines.add("line " + i + " übt, said " + "word ".repeat(i % 7) + "日本" + i % 3);
    }
    Files.write(directory.resolve("a.txt"), lines.subList(0, 333));
    Files.write(directory.resolve("b.txt"), lines.subList(333, 500));
    assertThat(run(), is(State.DONE));
    Map<String, String> expected = PlainWordCount.expected(lines, START, 60);
    assertThat(expected.size(), is(9));
    assertThat(PlainWordCount.written(output()), equalTo(expected));
  }

  @Test
  void aRunOfItsOwnLeavesNoFilesOfAnEarlierOne() throws IOException {
    Files.createDirectories(output());
    Files.writeString(output().resolve("words-of-an-earlier-run.txt"), "stale");
    Files.writeString(directory.resolve("a.txt"), "");
    assertThat(run(), is(State.DONE));
    assertThat(PlainWordCount.written(output()), anEmptyMap());
  }

  private State run() throws IOException {
    return StreamingWordCount.run(
        "--sparkMaster=local[2]",
        "--input=" + directory + "/*.txt",
        "--output=" + output(),
        "--linesPerSecond=0",
        "--windowSeconds=60",
        "--maxRecordsPerMicroBatch=100");
  }

  private Path output() {
    return directory.resolve("output");
  }
}
