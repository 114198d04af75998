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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is wrong at the start is said in one line that names the option, and the exit code is 1. */
class ArgumentsTest {
  @TempDir Path directory;

  @BeforeEach
  void writeInput() throws IOException {
    Files.writeString(directory.resolve("a.txt"), "one line");
  }

  private String refusal(String argument) {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream errors = new PrintStream(printed, true, StandardCharsets.UTF_8);
    Map<String, String> arguments = new LinkedHashMap<>();
    for (String each :
        List.of(
            "--sparkMaster=local[2]",
            "--input=" + directory + "/a.txt",
            "--output=" + directory + "/out",
            argument)) {
      arguments.put(each.split("=", 2)[0], each);
    }
    int exitCode =
        StreamingWordCount.runAndReport(errors, arguments.values().toArray(new String[0]));
    String text = printed.toString(StandardCharsets.UTF_8);
    assertThat(text, exitCode, is(1));
    assertThat(text, text.lines().count(), is(1L));
    return text;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--linesPerSecond=-1|0 for as fast as possible",
        "--linesPerSecond=NaN|0 for as fast as possible",
        "--linesPerSecond=fast|must be a number",
        "--windowSeconds=abc|must be a whole number",
        "--windowSeconds=1.5|must be a whole number",
        "--windowSeconds=|must be a whole number",
        "--windowSeconds=0|must be between 1 and",
        "--windowSeconds=9223372036854775807|must be between 1 and",
        "--windowSeconds=9223372036854775808|must be a whole number",
        "--lineIntervalMillis=0|must be between 1 and",
        "--lineIntervalMillis=9223372036854775807|must be between 1 and",
        "--lineIntervalMillis=x|must be a whole number",
        "--startTime=yesterday|such as 2024-01-01T00:00:00Z",
        "--startTime=+292278993-01-01T00:00:00Z|must be",
        "--input=/nowhere/*.txt|names no file",
        "--sparkMaster=locl|is no master that Spark knows",
        "--output=|is empty",
        "--checkpointDir=|is empty",
        "--noSuchOption=1|noSuchOption",
      })
  void aWrongArgumentIsNamedWithTheExpectedForm(String argument, String expected) {
    assertThat(
        refusal(argument),
        allOf(containsString(argument.split("=", 2)[0].substring(2)), containsString(expected)));
  }

  @Test
  void anOutputThatCannotBeWrittenIsSaidAtTheStart() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "in the way");
    for (Path output : new Path[] {file, file.resolve("below"), Path.of("/proc/nothing")}) {
      assertThat(
          refusal("--output=" + output),
          allOf(containsString("--output=" + output), containsString("cannot be written to")));
    }
    assertThat(Files.readString(file), is("in the way"));
  }

  @Test
  void aCheckpointThatCannotBeUsedIsSaidInOneLine() throws IOException {
    Path checkpoint = Files.createDirectory(directory.resolve("checkpoint"));
    Files.writeString(checkpoint.resolve("other"), "file");
    assertThat(
        refusal("--checkpointDir=" + checkpoint),
        allOf(containsString("not a checkpoint"), not(containsString("\tat "))));
  }

  @Test
  void oneIsNoPlural() {
    assertThat(Counted.of(1, "word"), is("1 word"));
    assertThat(Counted.of(0, "word"), is("0 words"));
    assertThat(Counted.of(2, "window"), is("2 windows"));
  }
}
