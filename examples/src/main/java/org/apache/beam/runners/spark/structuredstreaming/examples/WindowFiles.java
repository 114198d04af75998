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

import java.io.BufferedWriter;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.UUID;
import org.apache.beam.sdk.io.FileSystems;
import org.apache.beam.sdk.io.fs.EmptyMatchTreatment;
import org.apache.beam.sdk.io.fs.MatchResult.Metadata;
import org.apache.beam.sdk.io.fs.MoveOptions.StandardMoveOptions;
import org.apache.beam.sdk.io.fs.ResolveOptions.StandardResolveOptions;
import org.apache.beam.sdk.io.fs.ResourceId;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.util.MimeTypes;

/**
 * The result files in an output directory, one a window.
 *
 * <p>Writing is idempotent: the name depends on the window alone, the content on its counts alone,
 * and a file appears whole or not at all, by a rename. So a window may be written any number of times
 * and by several attempts at once.
 */
final class WindowFiles {
  private static final String PREFIX = "words-";
  private static final String SUFFIX = ".txt";
  private static final String UNFINISHED_PREFIX = ".unfinished-";

  private final ResourceId directory;

  WindowFiles(String directory) {
    this.directory = FileSystems.matchNewResource(directory, true);
  }

  /** The name of a window's file. Names sort by time; colons are no good in names of files. */
  static String name(IntervalWindow window) {
    return (PREFIX + window.start() + "_" + window.end() + SUFFIX).replace(':', '-');
  }

  /**
   * Writes a line {@code word<tab>count} for every word.
   *
   * @param counts by word, in the order to write them in
   * @return the path of the file
   */
  String write(String name, SortedMap<String, Long> counts) throws IOException {
    ResourceId unfinished =
        directory.resolve(
            UNFINISHED_PREFIX + UUID.randomUUID() + "-" + name, StandardResolveOptions.RESOLVE_FILE);
    try (BufferedWriter out =
        new BufferedWriter(
            Channels.newWriter(
                FileSystems.create(unfinished, MimeTypes.TEXT), StandardCharsets.UTF_8))) {
      for (Map.Entry<String, Long> count : counts.entrySet()) {
        out.write(count.getKey());
        out.write('\t');
        out.write(Long.toString(count.getValue()));
        out.write('\n');
      }
    }
    ResourceId file = directory.resolve(name, StandardResolveOptions.RESOLVE_FILE);
    FileSystems.rename(List.of(unfinished), List.of(file));
    return file.toString();
  }

  /**
   * Makes the directory, if it is not there, and checks that files can be written in it.
   *
   * @throws IllegalArgumentException if they cannot
   */
  void checkWritable() {
    ResourceId probe =
        directory.resolve(
            UNFINISHED_PREFIX + UUID.randomUUID() + SUFFIX, StandardResolveOptions.RESOLVE_FILE);
    try {
      FileSystems.create(probe, MimeTypes.TEXT).close();
      delete(List.of(probe));
    } catch (IOException | RuntimeException e) {
      throw new IllegalArgumentException(
          "--output=" + directory + " cannot be written to (" + e.getMessage()
              + "). Name a directory that is not there yet, or one that you may write to.",
          e);
    }
  }

  /** Number of files there are. */
  int count() throws IOException {
    return find(directory + PREFIX + "*" + SUFFIX).size();
  }

  /** Deletes the files of an earlier pipeline. */
  void deleteAll() throws IOException {
    delete(find(directory + PREFIX + "*" + SUFFIX));
    deleteUnfinished();
  }

  /** Deletes what attempts that were killed have left. Called when none is running. */
  void deleteUnfinished() throws IOException {
    delete(find(directory + UNFINISHED_PREFIX + "*" + SUFFIX));
  }

  private static List<ResourceId> find(String pattern) throws IOException {
    try {
      return FileSystems.match(pattern, EmptyMatchTreatment.ALLOW).metadata().stream()
          .map(Metadata::resourceId)
          .toList();
    } catch (FileNotFoundException e) {
      return List.of();
    }
  }

  private static void delete(List<ResourceId> files) throws IOException {
    FileSystems.delete(files, StandardMoveOptions.IGNORE_MISSING_FILES);
  }

  @Override
  public String toString() {
    return directory.toString();
  }
}
