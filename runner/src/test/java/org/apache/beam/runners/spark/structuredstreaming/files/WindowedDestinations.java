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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.Compression;
import org.apache.beam.sdk.io.FileIO;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.transforms.Contextful;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.Requirements;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.TimestampedValue;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** Lines at one a second, in a file for every window and destination, by a pipeline that can be held up. */
final class WindowedDestinations {
  private static final int WINDOW_SECONDS = 100;

  private WindowedDestinations() {}

  /**
   * Adds the steps to a pipeline.
   *
   * @param lines waits for elements before they are written
   * @param names waits for names of files before they are given
   */
  static void write(
      Pipeline pipeline,
      List<String> elements,
      Path out,
      WaitPoints.Gate lines,
      WaitPoints.Gate names) {
    List<TimestampedValue<String>> timed = new ArrayList<>();
    for (String element : elements) {
      timed.add(TimestampedValue.of(element, Instant.ofEpochSecond(timed.size())));
    }
    pipeline
        .apply(Create.timestamped(timed))
        .apply(
            MapElements.into(TypeDescriptors.strings())
                .via(
                    Contextful.fn(
                        (line, context) -> {
                          lines.pass(line);
                          return line;
                        },
                        Requirements.empty())))
        .apply(Window.into(FixedWindows.of(Duration.standardSeconds(WINDOW_SECONDS))))
        .apply(
            FileIO.<String, String>writeDynamic()
                .by(WaysToWrite::destination)
                .withDestinationCoder(StringUtf8Coder.of())
                .via(TextIO.sink())
                .to(out.toString())
                .withTempDirectory(out.resolveSibling("temporary").toString())
                .withNumShards(1)
                .withNaming(destination -> new Naming(destination, names)));
  }

  /** The name of the file of a destination and the window that starts at a second. */
  static String name(String destination, long startSecond) {
    return destination + "-" + startSecond + ".txt";
  }

  /** The lines of each file. */
  static Map<String, List<String>> expected(List<String> elements) {
    Map<String, List<String>> files = new TreeMap<>();
    for (int second = 0; second < elements.size(); second++) {
      String line = elements.get(second);
      String name =
          name(WaysToWrite.destination(line), second / WINDOW_SECONDS * (long) WINDOW_SECONDS);
      files.computeIfAbsent(name, key -> new ArrayList<>()).add(line);
    }
    return files;
  }

  private record Naming(String destination, WaitPoints.Gate names) implements FileIO.Write.FileNaming {
    @Override
    public String getFilename(
        BoundedWindow window, PaneInfo pane, int shards, int shard, Compression compression) {
      String name =
          name(destination, ((IntervalWindow) window).start().getMillis() / 1000);
      try {
        names.pass(name);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return name;
    }
  }
}
