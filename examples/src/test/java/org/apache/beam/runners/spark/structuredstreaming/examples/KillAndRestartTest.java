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
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThan;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example in a JVM of its own that is killed with SIGKILL. */
class KillAndRestartTest {
  private static final Instant START = Instant.parse("2024-01-01T00:00:00Z");

  /** Only a machine that does many other things at once comes near it. */
  private static final long MOST_SECONDS = 300;

  @TempDir Path directory;

  @Test
  void twiceKilledAndStartedAgainItWritesWhatAnUninterruptedRunWrites() throws Exception {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      lines.add("line " + i + " of " + i % 10 + " and " + "more ".repeat(i % 4));
    }
    Files.write(directory.resolve("text.txt"), lines);
    Map<String, String> expected = PlainWordCount.expected(lines, START, 20);
    Files.createDirectories(output());

    killWhenWritten(1);
    int afterFirst = PlainWordCount.written(output()).size();
    killWhenWritten(afterFirst + 2);
    int afterSecond = PlainWordCount.written(output()).size();
    assertThat(afterSecond, greaterThan(afterFirst));
    assertThat("killed in the middle", afterSecond, lessThan(expected.size()));

    Process last = start(0);
    assertThat(explain(), last.waitFor(MOST_SECONDS, TimeUnit.SECONDS), is(true));
    assertThat(explain(), last.exitValue(), is(0));
    assertThat(PlainWordCount.written(output()), equalTo(expected));
  }

  /** Runs the example until there are so many files, and kills it. */
  private void killWhenWritten(int files) throws IOException, InterruptedException {
    try (WatchService changes = FileSystems.getDefault().newWatchService()) {
      output()
          .register(
              changes, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_MODIFY);
      Process process = start(50);
      try {
        awaitFiles(changes, written -> written >= files);
        assertThat("it still runs: " + explain(), process.isAlive(), is(true));
      } finally {
        process.destroyForcibly().waitFor();
      }
    }
  }

  private void awaitFiles(WatchService changes, Predicate<Integer> enough)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(MOST_SECONDS);
    while (!enough.test(finishedFiles())) {
      WatchKey key = changes.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (key == null) {
        throw new AssertionError("Too few files after " + MOST_SECONDS + " s. " + explain());
      }
      key.pollEvents();
      key.reset();
    }
  }

  private int finishedFiles() throws IOException {
    try (var paths = Files.list(output())) {
      return (int) paths.filter(path -> path.getFileName().toString().startsWith("words-")).count();
    }
  }

  private Process start(int linesPerSecond) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // What makes a JVM of a few seconds fast.
    command.addAll(List.of("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.add("-Dspark.ui.enabled=false");
    command.addAll(
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("--add-opens="))
            .toList());
    command.add("-classpath");
    command.add(System.getProperty("java.class.path"));
    command.add(StreamingWordCount.class.getName());
    command.add("--sparkMaster=local[2]");
    command.add("--input=" + directory.resolve("text.txt"));
    command.add("--output=" + output());
    command.add("--checkpointDir=" + directory.resolve("checkpoint"));
    command.add("--linesPerSecond=" + linesPerSecond);
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(Redirect.appendTo(directory.resolve("log").toFile()))
        .start();
  }

  private String explain() throws IOException {
    return "Its output: " + Files.readString(directory.resolve("log"));
  }

  private Path output() {
    return directory.resolve("output");
  }
}
