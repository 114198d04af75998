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
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.matchesPattern;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.FileIO;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.io.fs.MatchResult;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.TimestampedValue;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** FileIO on local files: matching, reading whole files, and writing to destinations of the elements' own. */
@Timeout(180)
class FileIoTest extends FileCase {
  private static final int DESTINATIONS = 5;
  private static final List<String> LINES = lines(200);

  /** A line's last digit, by which it has its destination. */
  private static String destination(String line) {
    return "d" + (line.charAt(line.length() - 1) - '0') % DESTINATIONS;
  }

  private static Map<String, List<String>> byDestination(List<String> lines) {
    return lines.stream()
        .collect(Collectors.groupingBy(FileIoTest::destination, TreeMap::new, Collectors.toList()));
  }

  private FileIO.Write<String, String> perDestination() {
    return FileIO.<String, String>writeDynamic()
        .by(FileIoTest::destination)
        .withDestinationCoder(StringUtf8Coder.of())
        .via(TextIO.sink())
        .to(out().toString());
  }

  @ParameterizedTest
  @EnumSource
  void matchesAreTheFilesWithTheirSizes(Engine engine) throws IOException {
    write(out().resolve("a.txt"), "1");
    write(out().resolve("sub/b.txt"), "22");
    write(out().resolve("sub/deep/c.txt"), "333");
    write(out().resolve("sub/other.bin"), "4444");
    run(
        engine,
        p -> {
          p.apply("Deep", FileIO.match().filepattern(out("**.txt")))
              .apply("Describe", describe())
              .apply(recorder.as("deep"));
          p.apply("Flat", FileIO.match().filepattern(out("*")))
              .apply("DescribeFlat", describe())
              .apply(recorder.as("flat"));
          p.apply("Whole", FileIO.match().filepattern(out("sub/*.bin")))
              .apply(FileIO.readMatches())
              .apply(ParDo.of(new ReadWholeFn()))
              .apply(recorder.as("whole"));
        });
    assertThat(recorded("deep"), is(List.of("a.txt 1", "b.txt 2", "c.txt 3")));
    assertThat(recorded("flat"), is(List.of("a.txt 1")));
    assertThat(recorded("whole"), is(List.of("4444")));
  }

  private static final class ReadWholeFn extends DoFn<FileIO.ReadableFile, String> {
    @ProcessElement
    public void process(@Element FileIO.ReadableFile file, OutputReceiver<String> out)
        throws IOException {
      out.output(file.readFullyAsUTF8String());
    }
  }

  private static MapElements<MatchResult.Metadata, String> describe() {
    return MapElements.into(TypeDescriptors.strings())
        .via(match -> match.resourceId().getFilename() + " " + match.sizeBytes());
  }

  @ParameterizedTest
  @EnumSource
  void everyDestinationHasItsOwnFile(Engine engine) {
    run(
        engine,
        p ->
            p.apply(Create.of(LINES))
                .apply(
                    perDestination()
                        .withNumShards(1)
                        .withNaming(name -> (w, pane, shards, shard, c) -> name + "/all.txt"))
                .getPerDestinationOutputFilenames()
                .apply(recorder.as("names")));
    assertThat(written().linesBy(name -> name.replace("/all.txt", "")), is(byDestination(LINES)));
    assertThat(
        recorded("names"),
        is(
            byDestination(LINES).keySet().stream()
                .map(name -> name + "=" + out(name + "/all.txt"))
                .toList()));
  }

  @ParameterizedTest
  @EnumSource
  void shardsOfDestinationsAreNamedByBeam(Engine engine) {
    run(
        engine,
        p ->
            p.apply(Create.of(LINES))
                .apply(
                    perDestination()
                        .withNumShards(3)
                        .withNaming(name -> FileIO.Write.defaultNaming(name, ".txt"))));
    FolderContents written = written();
    assertThat(written.linesBy(name -> name.substring(0, 2)), is(byDestination(LINES)));
    assertThat(
        written.names(), everyItem(matchesPattern("d[0-4]-0000[0-2]-of-00003\\.txt")));
  }

  /** More destinations than one bundle keeps open: the rest of the elements goes through a shuffle. */
  @ParameterizedTest
  @EnumSource
  void moreDestinationsThanOpenFiles(Engine engine) {
    run(
        engine,
        p ->
            p.apply(Create.of(LINES))
                .apply(
                    FileIO.<String, String>writeDynamic()
                        .by(line -> line)
                        .withDestinationCoder(StringUtf8Coder.of())
                        .via(TextIO.sink())
                        .to(out().toString())
                        .withNaming(line -> FileIO.Write.defaultNaming(line, ".txt"))));
    FolderContents written = written();
    assertThat(written.names(), hasSize(LINES.size()));
    assertThat(
        written.linesBy(name -> name.substring(0, LINES.get(0).length())),
        is(LINES.stream().collect(Collectors.toMap(line -> line, List::of))));
  }

  @ParameterizedTest
  @EnumSource
  void everyWindowAndDestinationHasItsOwnFile(Engine engine) {
    List<TimestampedValue<String>> timed = new ArrayList<>();
    for (String line : LINES) {
      timed.add(TimestampedValue.of(line, Instant.ofEpochSecond(timed.size())));
    }
    run(
        engine,
        p ->
            p.apply(Create.timestamped(timed))
                .apply(Window.into(FixedWindows.of(Duration.standardSeconds(50))))
                .apply(
                    perDestination()
                        .withNumShards(1)
                        .withNaming(
                            name ->
                                (window, pane, shards, shard, compression) ->
                                    name + "/" + start(window) + ".txt")));
    Map<String, List<String>> expected = new TreeMap<>();
    for (int window = 0; window < 4; window++) {
      String start = "/" + 50 * window + ".txt";
      byDestination(LINES.subList(50 * window, 50 * (window + 1)))
          .forEach((name, lines) -> expected.put(name + start, lines));
    }
    assertThat(written().linesBy(name -> name), is(expected));
  }

  private static long start(BoundedWindow window) {
    return ((IntervalWindow) window).start().getMillis() / 1000;
  }
}
