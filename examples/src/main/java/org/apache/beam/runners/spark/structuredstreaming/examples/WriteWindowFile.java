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
import java.io.PrintStream;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.values.KV;

/**
 * Writes the file of a window that has closed, prints a line about it and outputs the file's path.
 * If the epoch is run again the file is replaced by the same one, and the line is printed again.
 */
final class WriteWindowFile extends DoFn<KV<String, Iterable<KV<String, Long>>>, String> {
  private static final int WORDS_PRINTED = 5;

  private final String output;

  /**
   * @param output the directory to write to
   */
  WriteWindowFile(String output) {
    this.output = output;
  }

  @ProcessElement
  public void processElement(
      @Element KV<String, Iterable<KV<String, Long>>> closed,
      IntervalWindow window,
      OutputReceiver<String> paths)
      throws IOException {
    TreeMap<String, Long> counts = new TreeMap<>();
    long words = 0;
    for (KV<String, Long> count : closed.getValue()) {
      if (counts.put(count.getKey(), count.getValue()) != null) {
        throw new IllegalStateException(
            "The window " + window + " has two counts of the word '" + count.getKey() + "'.");
      }
      words += count.getValue();
    }
    String path = new WindowFiles(output).write(closed.getKey(), counts);
    print(System.out, window, words, counts);
    paths.output(path);
  }

  private static void print(
      PrintStream out, IntervalWindow window, long words, Map<String, Long> counts) {
    String most =
        counts.entrySet().stream()
            .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
            .limit(WORDS_PRINTED)
            .map(entry -> shorten(entry.getKey()) + " " + entry.getValue())
            .collect(Collectors.joining(", "));
    out.println(
        "[" + window.start() + " .. " + window.end() + ")  " + Counted.of(words, "word") + ", "
            + counts.size() + " different: " + most + (counts.size() > WORDS_PRINTED ? ", ..." : ""));
  }

  private static String shorten(String word) {
    return word.length() <= 40 ? word : word.substring(0, word.offsetByCodePoints(0, 20)) + "...";
  }
}
