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
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.Compression;
import org.apache.beam.sdk.io.FileIO;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TimestampedValue;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** TextIO on local files: what is written is there to the last line, and reading gives it again. */
@Timeout(180)
class TextFilesTest extends FileCase {
  private static final List<String> LINES = lines(1000);

  /** Lines at one a second, from the beginning of 1970. */
  private static PCollection<String> timed(Pipeline pipeline, int count) {
    List<TimestampedValue<String>> values = new ArrayList<>();
    for (String line : lines(count)) {
      values.add(TimestampedValue.of(line, Instant.ofEpochSecond(values.size())));
    }
    return pipeline.apply(Create.timestamped(values));
  }

  @ParameterizedTest
  @EnumSource
  void aGivenNumberOfShardsHoldsEveryLineOnce(Engine engine) {
    run(
        engine,
        p ->
            p.apply(Create.of(LINES))
                .apply(TextIO.write().to(out("part")).withSuffix(".txt").withNumShards(3)));
    assertThat(
        written().names(),
        contains("part-00000-of-00003.txt", "part-00001-of-00003.txt", "part-00002-of-00003.txt"));
    assertThat(written().allLines(), is(LINES));
    run(
        engine,
        p -> p.apply(TextIO.read().from(out("part-*.txt"))).apply(recorder.as("read")));
    assertThat(recorded("read"), is(LINES));
  }

  @ParameterizedTest
  @EnumSource
  void theRunnerChoosesTheNumberOfShards(Engine engine) {
    run(engine, p -> p.apply(Create.of(LINES)).apply(TextIO.write().to(out("part"))));
    List<String> names = written().names();
    assertThat(names, hasSize(lessThanOrEqualTo(8)));
    assertThat(
        names,
        is(
            IntStream.range(0, names.size())
                .mapToObj(shard -> String.format("part-%05d-of-%05d", shard, names.size()))
                .toList()));
    assertThat(written().allLines(), is(LINES));
  }

  @ParameterizedTest
  @EnumSource
  void withoutShardsThereIsOneFileWithHeaderAndFooter(Engine engine) {
    run(
        engine,
        p ->
            p.apply(Create.of(LINES))
                .apply(
                    TextIO.write()
                        .to(out("all"))
                        .withSuffix(".txt")
                        .withoutSharding()
                        .withHeader("header")
                        .withFooter("footer")));
    assertThat(written().names(), contains("all.txt"));
    List<String> found = written().lines("all.txt");
    assertThat(found, hasSize(LINES.size() + 2));
    assertThat(found.get(0), is("header"));
    assertThat(found.get(found.size() - 1), is("footer"));
    assertThat(found.subList(1, found.size() - 1).stream().sorted().toList(), is(LINES));
    run(
        engine,
        p ->
            p.apply(TextIO.read().from(out("all.txt")).withSkipHeaderLines(1))
                .apply(recorder.as("read")));
    assertThat(recorded("read"), is(Stream.concat(Stream.of("footer"), LINES.stream()).toList()));
  }

  @ParameterizedTest
  @EnumSource
  void everyWindowHasItsOwnFiles(Engine engine) {
    run(
        engine,
        p ->
            timed(p, 100)
                .apply(Window.into(FixedWindows.of(Duration.standardSeconds(25))))
                .apply(
                    TextIO.write()
                        .to(out("part"))
                        .withWindowedWrites()
                        .withNumShards(2)
                        .withHeader("header")));
    FolderContents written = written();
    assertThat(written.names(), hasSize(8));
    for (String name : written.names()) {
      assertThat(name, written.lines(name).get(0), is("header"));
    }
    Pattern shardOfWindow =
        Pattern.compile("part(.*)-1970-01-01T00.*-pane-0-last-0000[01]-of-00002");
    Map<String, List<String>> byWindow =
        written.linesBy(
            name -> {
              Matcher matcher = shardOfWindow.matcher(name);
              assertThat(name, matcher.matches());
              return matcher.group(1);
            });
    List<String> lines = lines(100);
    Map<String, List<String>> expected = new TreeMap<>();
    for (int window = 0; window < 4; window++) {
      List<String> ofWindow = new ArrayList<>(List.of("header", "header"));
      ofWindow.addAll(lines.subList(window * 25, (window + 1) * 25));
      expected.put(Instant.ofEpochSecond(window * 25L).toString(), ofWindow);
    }
    assertThat(byWindow, is(expected));
  }

  @ParameterizedTest
  @EnumSource
  void aPatternIsReadInEveryWayThatTextIoHas(Engine engine) throws IOException {
    for (int file = 0; file < 5; file++) {
      write(
          out().resolve("in-" + file),
          String.join("\n", LINES.subList(file * 200, (file + 1) * 200)) + (file == 2 ? "" : "\n"));
    }
    run(
        engine,
        p -> {
          p.apply("Source", TextIO.read().from(out("in-*"))).apply(recorder.as("source"));
          p.apply("Many", TextIO.read().from(out("in-*")).withHintMatchesManyFiles())
              .apply(recorder.as("many"));
          p.apply("Match", FileIO.match().filepattern(out("in-*")))
              .apply("Open", FileIO.readMatches())
              .apply("Files", TextIO.readFiles())
              .apply(recorder.as("files"));
          p.apply(Create.of(out("in-0"), out("in-[1-4]")))
              .apply("MatchAll", FileIO.matchAll())
              .apply("OpenAll", FileIO.readMatches())
              .apply("AllFiles", TextIO.readFiles())
              .apply(recorder.as("all"));
        });
    for (String way : List.of("source", "many", "files", "all")) {
      assertThat(way, recorded(way), is(LINES));
    }
  }

  @ParameterizedTest
  @EnumSource
  void linesEndWhereTheDelimiterSays(Engine engine) throws IOException {
    write(out().resolve("delimited"), "a|b\n||c");
    run(
        engine,
        p ->
            p.apply(TextIO.read().from(out("delimited")).withDelimiter(new byte[] {'|'}))
                .apply(MapElements.into(TypeDescriptors.strings()).via(s -> s.replace("\n", "/")))
                .apply(recorder.as("read")));
    assertThat(recorded("read"), is(List.of("", "a", "b/", "c")));
  }

  private static Stream<Arguments> compressions() {
    return Stream.of(Compression.GZIP, Compression.BZIP2, Compression.ZSTD, Compression.DEFLATE)
        .flatMap(
            compression ->
                Stream.of(Engine.values()).map(engine -> Arguments.of(compression, engine)));
  }

  @ParameterizedTest
  @MethodSource("compressions")
  void whatIsWrittenCompressedIsReadAgain(Compression compression, Engine engine)
      throws IOException {
    run(
        engine,
        p ->
            p.apply(Create.of(LINES))
                .apply(TextIO.write().to(out("part")).withNumShards(2).withCompression(compression)));
    String suffix = compression.getSuggestedSuffix();
    assertThat(
        written().names(),
        contains("part-00000-of-00002" + suffix, "part-00001-of-00002" + suffix));
    long bytes = 0;
    for (String name : written().names()) {
      bytes += Files.size(out().resolve(name));
    }
    // 11 bytes a line, most of them the same in all lines.
    assertThat(bytes, lessThan(LINES.size() * 11L / 2));
    run(
        engine,
        p -> {
          p.apply("By name", TextIO.read().from(out("part-*"))).apply(recorder.as("by name"));
          p.apply("By option", TextIO.read().from(out("part-*")).withCompression(compression))
              .apply(recorder.as("by option"));
          p.apply(FileIO.match().filepattern(out("part-*")))
              .apply(FileIO.readMatches().withCompression(compression))
              .apply(TextIO.readFiles())
              .apply(recorder.as("files"));
        });
    assertThat(recorded("by name"), is(LINES));
    assertThat(recorded("by option"), is(LINES));
    assertThat(recorded("files"), is(LINES));
  }
}
