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
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.matchesPattern;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.FileIO;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.io.WriteFilesResult;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.values.PCollection;

/** How lines get into files: named by TextIO or by destinations, in shards of the runner or of the user. */
enum WaysToWrite {
  TEXT_IN_CHOSEN_SHARDS,
  TEXT_IN_GIVEN_SHARDS,
  DESTINATIONS_IN_CHOSEN_SHARDS,
  DESTINATIONS_IN_ONE_SHARD;

  private static final int DESTINATIONS = 5;

  /** The destination of a line, by its last digit. */
  static String destination(String line) {
    return "d" + (line.charAt(line.length() - 1) - '0') % DESTINATIONS;
  }

  /**
   * Writes into {@code folder}.
   *
   * @param sink what writes the lines where there are destinations; TextIO has its own
   */
  PTransform<PCollection<String>, WriteFilesResult<?>> to(Path folder, FileIO.Sink<String> sink) {
    return new PTransform<>(name()) {
      @Override
      public WriteFilesResult<?> expand(PCollection<String> lines) {
        return write(lines, folder, sink);
      }
    };
  }

  private WriteFilesResult<?> write(
      PCollection<String> lines, Path folder, FileIO.Sink<String> sink) {
    String prefix = folder.resolve("part").toString();
    return switch (this) {
      case TEXT_IN_CHOSEN_SHARDS -> lines.apply(TextIO.write().to(prefix).withOutputFilenames());
      case TEXT_IN_GIVEN_SHARDS ->
          lines.apply(TextIO.write().to(prefix).withNumShards(3).withOutputFilenames());
      case DESTINATIONS_IN_CHOSEN_SHARDS -> lines.apply(destinations(folder, sink));
      case DESTINATIONS_IN_ONE_SHARD ->
          lines.apply(destinations(folder, sink).withNumShards(1));
      default -> throw new IllegalStateException(name());
    };
  }

  /**
   * FileIO writes by window, and of that Beam never clears away what a failed attempt has left in the
   * temporary folder: so that is to be beside the output.
   */
  private static FileIO.Write<String, String> destinations(Path folder, FileIO.Sink<String> sink) {
    return FileIO.<String, String>writeDynamic()
        .by(WaysToWrite::destination)
        .withDestinationCoder(StringUtf8Coder.of())
        .via(sink)
        .to(folder.toString())
        .withTempDirectory(folder.resolveSibling("temporary").toString())
        .withNaming(name -> FileIO.Write.defaultNaming(name, ".txt"));
  }

  /** Fails unless a folder holds these lines, each once and where it belongs, and nothing else at all. */
  void assertExact(Path folder, List<String> lines) {
    FolderContents written = FolderContents.of(folder);
    assertThat(written.allLines(), is(lines));
    if (this == TEXT_IN_CHOSEN_SHARDS || this == TEXT_IN_GIVEN_SHARDS) {
      assertThat(written.names(), everyItem(matchesPattern("part-\\d{5}-of-\\d{5}")));
    } else {
      assertThat(
          written.linesBy(name -> name.replaceFirst("-\\d{5}-of-\\d{5}\\.txt$", "")),
          is(lines.stream().collect(Collectors.groupingBy(WaysToWrite::destination))));
    }
  }
}
