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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program of the tests in a JVM of its own, with a heap of a given size and what Spark needs. */
public final class ForkedProgram {
  private final Class<?> program;
  private final String heap;
  private final long limitMinutes;
  private final List<String> jvmOptions = new ArrayList<>();

  /**
   * A program that has not been run yet.
   *
   * @param heap greatest size of the heap, as {@code -Xmx} takes it
   * @param limitMinutes how long it may run
   */
  public ForkedProgram(Class<?> program, String heap, long limitMinutes) {
    this.program = program;
    this.heap = heap;
    this.limitMinutes = limitMinutes;
  }

  /** Adds an option of the JVM. */
  public ForkedProgram with(String jvmOption) {
    jvmOptions.add(jvmOption);
    return this;
  }

  /** Runs the program to its end; whatever it prints goes to {@code log}. It must end well. */
  public void run(Path log, List<String> arguments) throws IOException, InterruptedException {
    try (Running running = start(log, arguments)) {
      running.awaitEnd();
    }
  }

  /** Starts the program; whatever it prints goes to {@code log}. */
  public Running start(Path log, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx" + heap);
    command.addAll(LocalCluster.moduleOptions());
    command.add("-Dspark.ui.enabled=false");
    command.add("-Dspark.driver.bindAddress=127.0.0.1");
    command.add("-Dspark.driver.host=localhost");
    // A JVM that has used its heap up is not to go on for long with what is left of it.
    command.add("-XX:+ExitOnOutOfMemoryError");
    command.addAll(jvmOptions);
    command.add("-cp");
    command.add(LocalCluster.classPath());
    command.add(program.getName());
    command.addAll(arguments);
    return new Running(
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start(), log);
  }

  /** A process of the program; closing it kills it. */
  public final class Running implements AutoCloseable {
    private final Process process;
    private final Path log;

    private Running(Process process, Path log) {
      this.process = process;
      this.log = log;
    }

    /** What the program has printed. */
    public String printed() {
      try {
        return Files.readString(log);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Waits for the end of the program, which must end well. */
    public void awaitEnd() throws InterruptedException {
      boolean ended = process.waitFor(limitMinutes, TimeUnit.MINUTES);
      assertThat("within " + limitMinutes + " minutes: " + printed(), ended, is(true));
      assertThat(printed(), process.exitValue(), is(0));
    }

    /** Waits for the end of the program, however it ends; 128 and the signal if it was killed. */
    public int awaitExit() throws InterruptedException {
      boolean ended = process.waitFor(limitMinutes, TimeUnit.MINUTES);
      assertThat("within " + limitMinutes + " minutes: " + printed(), ended, is(true));
      return process.exitValue();
    }

    /** Whether the program has not ended. */
    public boolean isAlive() {
      return process.isAlive();
    }

    /** Kills the program, as SIGKILL does, and waits until it is dead. */
    public void kill() throws InterruptedException {
      process.destroyForcibly().waitFor();
    }

    /** Sends the program a signal, such as {@code STOP}, and waits until it is sent. */
    public void signal(String name) throws IOException, InterruptedException {
      Process kill =
          new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start();
      assertThat(kill.waitFor(), is(0));
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }
}
