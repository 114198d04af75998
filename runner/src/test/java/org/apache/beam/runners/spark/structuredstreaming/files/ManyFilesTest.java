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
package org.apache.beam.runners.spark.structuredstreaming.files;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.beam.runners.spark.structuredstreaming.testing.SparkCounting;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.FileIO;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.transforms.Create;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Thousands of small files: written one for each destination, read by a pattern, and dealt out anew. */
@Timeout(180)
class ManyFilesTest extends FileCase {
  private static final int LINES_PER_FILE = 3;
  private static final int DESTINATIONS = 30;

  /** A job that had a task for each file would have a hundred times as many. */
  private static final int TASKS = 30;

  /** A stream of as many would take long. */
  private static int files(Engine engine) {
    return engine == Engine.BATCH ? 3000 : 1000;
  }

  private static int number(String line) {
    return Integer.parseInt(line.substring(line.indexOf(' ') + 1));
  }

  private static String file(String line) {
    return "f" + number(line) / LINES_PER_FILE;
  }

  private static String bucket(String line) {
    return "b" + number(line) % DESTINATIONS;
  }

  /**
   * The temporary folder is beside the output: before it moves a file, Beam's local file system walks
   * through the whole folder that the file is to be in.
   */
  private FileIO.Write<String, String> to(String folder) {
    return FileIO.<String, String>writeDynamic()
        .withDestinationCoder(StringUtf8Coder.of())
        .via(TextIO.sink())
        .to(out(folder))
        .withTempDirectory(directory.resolve("temporary").toString())
        .withNumShards(1)
        .withNaming(name -> (window, pane, shards, shard, compression) -> name + ".txt");
  }

  @ParameterizedTest
  @EnumSource
  void smallFilesAreWrittenReadAndDealtOut(Engine engine) {
    List<String> lines = lines(files(engine) * LINES_PER_FILE);
    long start = System.nanoTime();
    int writing;
    int reading;
    try (SparkCounting counting = SparkCounting.of(SPARK)) {
      run(
          engine,
          p ->
              p.apply(Create.of(lines))
                  .apply(to("small").by(ManyFilesTest::file)));
      writing = tasks(counting);
    }
    long written = System.nanoTime();
    FolderContents small = FolderContents.of(out().resolve("small"));
    assertThat(small.names(), hasSize(files(engine)));
    assertThat(small.allLines(), is(lines));
    try (SparkCounting counting = SparkCounting.of(SPARK)) {
      run(
          engine,
          p ->
              p.apply(TextIO.read().from(out("small/*.txt")))
                  .apply(to("buckets").by(ManyFilesTest::bucket)));
      reading = tasks(counting);
    }
    long read = System.nanoTime();
    System.out.println(
        String.format(
            "%s: %d files written in %d ms by %d tasks, read and dealt out in %d ms by %d tasks",
            engine,
            small.names().size(),
            (written - start) / 1_000_000,
            writing,
            (read - written) / 1_000_000,
            reading));
    assertThat("tasks that write", writing, lessThanOrEqualTo(TASKS));
    assertThat("tasks that read", reading, lessThanOrEqualTo(TASKS));
    assertThat(
        FolderContents.of(out().resolve("buckets")).linesBy(name -> name.replace(".txt", "")),
        is(lines.stream().collect(Collectors.groupingBy(ManyFilesTest::bucket))));
  }

  /** The tasks of the epoch that had most; a batch is one. */
  private static int tasks(SparkCounting counting) {
    return counting.epochs().values().stream()
        .mapToInt(epoch -> epoch.tasks().values().stream().mapToInt(Integer::intValue).sum())
        .max()
        .orElseThrow();
  }
}
