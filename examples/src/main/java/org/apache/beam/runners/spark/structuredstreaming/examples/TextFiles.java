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

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.beam.sdk.io.FileSystems;
import org.apache.beam.sdk.io.fs.EmptyMatchTreatment;
import org.apache.beam.sdk.io.fs.MatchResult.Metadata;

/** Finds text files by path or glob. */
final class TextFiles {
  private static final Pattern SCHEME = Pattern.compile("([a-zA-Z][-a-zA-Z0-9+.]*):/");
  private static final Pattern WILDCARD = Pattern.compile("[*?{}\\[\\]\\\\]");

  private TextFiles() {}

  /**
   * The files that any of the patterns names, each once and in the order of their paths, empty ones
   * left out.
   *
   * @throws IllegalArgumentException if a pattern names no file
   */
  static List<TextSegment> find(Collection<String> patterns) {
    TreeMap<String, TextSegment> segments = new TreeMap<>();
    for (String pattern : patterns) {
      boolean found = false;
      for (Metadata file : match(pattern)) {
        if (!file.resourceId().isDirectory()) {
          found = true;
          String path = file.resourceId().toString();
          segments.put(path, new TextSegment(path, 0, file.sizeBytes()));
        }
      }
      if (!found) {
        throw new IllegalArgumentException(
            "--input=" + pattern + " names no file (in " + System.getProperty("user.dir")
                + "). Give the path of a text file, or a glob such as /data/*.txt.");
      }
    }
    return segments.values().stream().filter(segment -> segment.bytes() > 0).toList();
  }

  private static List<Metadata> match(String pattern) {
    if (isAbsentLocalPath(pattern)) {
      return List.of();
    }
    try {
      return FileSystems.match(pattern, EmptyMatchTreatment.ALLOW).metadata();
    } catch (FileNotFoundException e) {
      return List.of();
    } catch (IOException e) {
      throw new UncheckedIOException("--input=" + pattern + " cannot be looked up", e);
    }
  }

  /**
   * Whether a pattern is a path of the local file system, without wildcards, at which nothing is. Beam
   * would look for it in all that lies below the directory it names, which can take for ever.
   */
  private static boolean isAbsentLocalPath(String pattern) {
    Matcher scheme = SCHEME.matcher(pattern);
    boolean isLocal = !scheme.lookingAt() || scheme.group(1).equalsIgnoreCase("file");
    return isLocal
        && !WILDCARD.matcher(pattern).find()
        && !new File(pattern.replaceFirst("^(?i:file):", "")).exists();
  }
}
