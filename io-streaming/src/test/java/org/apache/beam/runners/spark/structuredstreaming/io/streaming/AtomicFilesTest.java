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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.hasItem;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.FileContextBasedCheckpointFileManager;
import org.apache.spark.sql.internal.SQLConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whole files on a local disk, in both ways in which they may be written. */
class AtomicFilesTest {
  @TempDir java.nio.file.Path directory;

  static Stream<Configuration> configurations() {
    Configuration managed = new Configuration();
    managed.set(
        SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS().parent().key(),
        FileContextBasedCheckpointFileManager.class.getName());
    return Stream.of(new Configuration(), managed);
  }

  private Path path(String name) {
    return new Path(directory.toUri().toString(), name);
  }

  @ParameterizedTest
  @MethodSource("configurations")
  void aFileIsWrittenReplacedReadListedAndDeleted(Configuration configuration) throws IOException {
    AtomicFiles files = AtomicFiles.at(path("a"), configuration);
    files.makeDirectory(path("a/b"));
    files.write(path("a/b/file"), new byte[] {1, 2});
    files.write(path("a/b/file"), new byte[] {3});

    assertArrayEquals(new byte[] {3}, files.read(path("a/b/file")));
    assertThat(files.list(path("a/b")), hasItem("file"));
    files.delete(path("a/b/file"));
    files.delete(path("a/b/file"));
    assertNull(files.read(path("a/b/file")));
  }

  @ParameterizedTest
  @MethodSource("configurations")
  void whatDoesNotExistIsAbsentWhenReadAndAnErrorWhenWrittenInto(Configuration configuration)
      throws IOException {
    AtomicFiles files = AtomicFiles.at(path("a"), configuration);

    assertNull(files.read(path("a/file")));
    assertThat(files.list(path("a")), empty());
    IOException failure =
        assertThrows(IOException.class, () -> files.write(path("a/file"), new byte[1]));
    assertThat(failure.getMessage(), containsString(directory.resolve("a/file").toString()));
  }

  @Test
  void aWriteThatFailsLeavesNothingBehind() throws IOException {
    AtomicFiles files = AtomicFiles.at(path("a"), new Configuration());
    Files.createDirectories(directory.resolve("a/occupied/inside"));

    assertThrows(IOException.class, () -> files.write(path("a/occupied"), new byte[1]));

    assertThat(files.list(path("a")), contains("occupied"));
  }
}
