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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The text files below a folder: path relative to it, and lines in their order. Hidden files count, so a
 * comparison with what is expected finds temporary files that were left; folders do not, and neither do
 * the checksums that a Hadoop file system may keep.
 */
record FolderContents(SortedMap<String, List<String>> files) {
  static FolderContents of(Path folder) {
    SortedMap<String, List<String>> files = new TreeMap<>();
    if (!Files.isDirectory(folder)) {
      return new FolderContents(files);
    }
    try (Stream<Path> found = Files.walk(folder)) {
      for (Path file : found.filter(Files::isRegularFile).toList()) {
        // By single bytes, so that compressed files can be listed too.
        files.put(
            folder.relativize(file).toString(),
            Files.readString(file, StandardCharsets.ISO_8859_1).lines().toList());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new FolderContents(files);
  }

  /** The paths of all files, sorted. */
  List<String> names() {
    return List.copyOf(files.keySet());
  }

  /** The lines of one file. */
  List<String> lines(String name) {
    return files.get(name);
  }

  /** The lines of all files, sorted. */
  List<String> allLines() {
    return files.values().stream().flatMap(List::stream).sorted().toList();
  }

  /** The lines of all files of a group, sorted, by what {@code group} says of their paths. */
  SortedMap<String, List<String>> linesBy(UnaryOperator<String> group) {
    SortedMap<String, List<String>> groups = new TreeMap<>();
    files.forEach(
        (name, lines) ->
            groups.computeIfAbsent(group.apply(name), key -> new ArrayList<>()).addAll(lines));
    groups.values().forEach(lines -> lines.sort(Comparator.naturalOrder()));
    return groups;
  }
}
