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
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.notNullValue;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.FileIO;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.io.fs.EmptyMatchTreatment;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.values.PCollection;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Files without lines, patterns without files and collections without elements. */
@Timeout(180)
class EmptyFilesTest extends FileCase {
  private static PCollection<String> nothing(Pipeline pipeline) {
    return pipeline.apply(Create.empty(StringUtf8Coder.of()));
  }

  @ParameterizedTest
  @EnumSource
  void nothingIsWrittenAsFilesWithoutLines(Engine engine) {
    run(
        engine,
        p -> {
          PCollection<String> nothing = nothing(p);
          nothing.apply("Chosen", TextIO.write().to(out("chosen")).withHeader("header"));
          nothing.apply("Shards", TextIO.write().to(out("shards")).withNumShards(2));
          nothing.apply("One", TextIO.write().to(out("one")).withoutSharding());
          nothing.apply(
              "Destinations",
              FileIO.<String, String>writeDynamic()
                  .by(line -> line)
                  .withDestinationCoder(StringUtf8Coder.of())
                  .via(TextIO.sink())
                  .to(out("destinations"))
                  .withNumShards(1)
                  .withNaming(line -> FileIO.Write.defaultNaming(line, ".txt")));
        });
    assertThat(
        written().files(),
        is(
            Map.of(
                "chosen-00000-of-00001", List.of("header"),
                "shards-00000-of-00002", List.of(),
                "shards-00001-of-00002", List.of(),
                "one", List.of())));
  }

  @ParameterizedTest
  @EnumSource
  void filesWithoutLinesGiveNone(Engine engine) throws IOException {
    write(out().resolve("in-0"), "");
    write(out().resolve("in-1"), "");
    run(
        engine,
        p -> {
          p.apply("Read", TextIO.read().from(out("in-*")))
              .apply(Count.globally())
              .apply(recorder.as("lines"));
          p.apply(FileIO.match().filepattern(out("in-*")))
              .apply(FileIO.readMatches())
              .apply(TextIO.readFiles())
              .apply("CountOfFiles", Count.globally())
              .apply(recorder.as("lines of files"));
        });
    assertThat(recorded("lines"), is(List.of("0")));
    assertThat(recorded("lines of files"), is(List.of("0")));
  }

  @ParameterizedTest
  @EnumSource
  void aPatternWithoutFilesIsNothingWhereThatIsAllowed(Engine engine) throws IOException {
    Files.createDirectories(out());
    run(
        engine,
        p -> {
          count(p, "source", read("none-*", EmptyMatchTreatment.ALLOW));
          count(p, "name", read("none", EmptyMatchTreatment.ALLOW));
          count(p, "wildcard", read("none-*", EmptyMatchTreatment.ALLOW_IF_WILDCARD));
          count(
              p,
              "many",
              read("none-*", EmptyMatchTreatment.ALLOW_IF_WILDCARD).withHintMatchesManyFiles());
          p.apply(
                  "Match",
                  FileIO.match()
                      .filepattern(out("none-*"))
                      .withEmptyMatchTreatment(EmptyMatchTreatment.ALLOW))
              .apply("CountOfMatches", Count.globally())
              .apply(recorder.as("matches"));
        });
    for (String way : List.of("source", "name", "wildcard", "many", "matches")) {
      assertThat(way, recorded(way), is(List.of("0")));
    }
  }

  private TextIO.Read read(String pattern, EmptyMatchTreatment treatment) {
    return TextIO.read().from(out(pattern)).withEmptyMatchTreatment(treatment);
  }

  private void count(Pipeline pipeline, String name, TextIO.Read read) {
    pipeline
        .apply("Read " + name, read)
        .apply("Count " + name, Count.globally())
        .apply(recorder.as(name));
  }

  private static Stream<Arguments> refusals() {
    return Stream.of(Engine.values())
        .flatMap(
            engine ->
                Stream.of(
                    Arguments.of(engine, "none-*", EmptyMatchTreatment.DISALLOW),
                    Arguments.of(engine, "none", EmptyMatchTreatment.DISALLOW),
                    Arguments.of(engine, "none", EmptyMatchTreatment.ALLOW_IF_WILDCARD)));
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void aPatternWithoutFilesFailsByItsNameWhereItIsNotAllowed(
      Engine engine, String pattern, EmptyMatchTreatment treatment) throws IOException {
    Files.createDirectories(out());
    Throwable bySource =
        failure(engine, p -> p.apply("Read", read(pattern, treatment)));
    assertThat(bySource.toString(), containsString(out(pattern)));
    Throwable byMatch =
        failure(
            engine,
            p ->
                p.apply(
                    "Match",
                    FileIO.match().filepattern(out(pattern)).withEmptyMatchTreatment(treatment)));
    assertThat(byMatch.toString(), containsString(out(pattern)));
    assertThat(List.of(byMatch.getSuppressed()).toString(), containsString("Match/"));
  }

  /** The failure of a pipeline, be it that its source is split before it runs or that a task fails. */
  private Throwable failure(Engine engine, Consumer<Pipeline> build) {
    RestartHarness harness = harness(engine, build);
    RuntimeException failure =
        assertThrows(RuntimeException.class, () -> RestartHarness.finish(harness.start()));
    Throwable cause = failure;
    while (!(cause instanceof FileNotFoundException)) {
      assertThat(failure.toString(), cause.getCause(), is(notNullValue()));
      cause = cause.getCause();
    }
    return cause;
  }
}
