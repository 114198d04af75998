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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.joda.time.Instant;

/** What the example must write, counted without Beam; and what it has written. */
final class PlainWordCount {
  private PlainWordCount() {}

  /** File name to content, for lines that are one second of event time apart. */
  static Map<String, String> expected(List<String> lines, Instant start, long windowSeconds) {
    Map<Long, Map<String, Long>> byWindow = new TreeMap<>();
    for (int i = 0; i < lines.size(); i++) {
      long second = start.getMillis() / 1000 + i;
      long windowStart = Math.floorDiv(second, windowSeconds) * windowSeconds;
      for (String word : lines.get(i).toLowerCase(Locale.ROOT).split("[^\\p{L}\\p{M}\\p{N}]+")) {
        if (!word.isEmpty()) {
          byWindow.computeIfAbsent(windowStart, w -> new TreeMap<>()).merge(word, 1L, Long::sum);
        }
      }
    }
    Map<String, String> files = new TreeMap<>();
    byWindow.forEach(
        (windowStart, counts) ->
            files.put(
                WindowFiles.name(
                    new IntervalWindow(
                        Instant.ofEpochSecond(windowStart),
                        Instant.ofEpochSecond(windowStart + windowSeconds))),
                counts.entrySet().stream()
                    .map(count -> count.getKey() + "\t" + count.getValue() + "\n")
                    .collect(Collectors.joining())));
    return files;
  }

  /** File name to content of all files in a directory; empty if there is none. */
  static Map<String, String> written(Path directory) throws IOException {
    Map<String, String> files = new TreeMap<>();
    if (Files.isDirectory(directory)) {
      try (Stream<Path> paths = Files.list(directory)) {
        paths.forEach(path -> files.put(path.getFileName().toString(), read(path)));
      }
    }
    return files;
  }

  private static String read(Path path) {
    try {
      return Files.readString(path, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
