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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.ForkedProgram;
import org.checkerframework.checker.nullness.qual.Nullable;

/**
 * A run of seeded pipelines with a schedule of faults, from its first start to its end: started again
 * whenever its driver has ended before that, in whichever way.
 */
final class FaultRun {
  private static final String READ_OTHERWISE = "split that reads differently the second time";
  private static final int MOST_STARTS = 20;
  private static final long MOST_MINUTES = 15;
  private static final int KILLED = 128 + 9;

  private final Path directory;
  private final List<SeededPipeline> pipelines;
  private final List<Fault> faults;
  private final int executors;
  private final long seed;
  private final List<String> options = new ArrayList<>();
  private final List<Integer> ends = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private @Nullable String second;
  private int secondEnd = -1;

  /** A run that has not begun; the directory is its own. */
  FaultRun(
      Path directory, List<SeededPipeline> pipelines, long seed, int executors, List<Fault> faults) {
    this.directory = directory;
    this.pipelines = pipelines;
    this.seed = seed;
    this.executors = executors;
    this.faults = faults;
  }

  /** Adds an option of the runner or a setting of Spark's. */
  FaultRun with(String option) {
    options.add(option);
    return this;
  }

  /** Starts a second driver at a fault that lets the first one wait, and lets that go on behind it. */
  FaultRun withSecondDriverAt(String fault) {
    second = fault;
    return this;
  }

  /** How the second driver has ended. */
  int secondEnd() {
    return secondEnd;
  }

  /** How the driver has ended, each time: by {@link FaultProgram}'s values, or as killed. */
  List<Integer> ends() {
    return ends;
  }

  /** With what the pipeline has failed, each time, the second driver's included. */
  List<String> failures() {
    return failures;
  }

  /** How often the driver was killed. */
  long kills() {
    return ends.stream().filter(end -> end == KILLED).count();
  }

  List<CallLog.Call> calls() {
    return new CallLog(directory).calls();
  }

  List<EventLog.Event> events() {
    return new EventLog(directory.resolve(FaultPoints.EVENTS)).events();
  }

  /** How many events of a kind there have been. */
  long count(String kind) {
    return events().stream().filter(event -> event.kind().equals(kind)).count();
  }

  /** How often a fault has happened. */
  long happened(String fault) {
    return events().stream()
        .filter(event -> event.kind().equals(EventLog.FAULT) && event.details().get(0).equals(fault))
        .count();
  }

  /** Most jobs that were started from a fault until the next epoch was committed. */
  int recovery(String fault) {
    int most = 0;
    int jobs = -1;
    for (EventLog.Event event : events()) {
      if (event.kind().equals(EventLog.FAULT) && event.details().get(0).equals(fault)) {
        jobs = Math.max(jobs, 0);
      } else if (event.kind().equals(EventLog.JOB) && jobs >= 0) {
        jobs++;
        most = Math.max(most, jobs);
      } else if (event.kind().equals(EventLog.COMMIT)) {
        jobs = -1;
      }
    }
    return most;
  }

  /** Runs to the end and demands that everything is as if there had been no fault. */
  FaultRun toTheEnd() throws IOException, InterruptedException {
    prepare();
    return goOn();
  }

  /** As {@link #toTheEnd} for a run that has begun. */
  FaultRun goOn() throws IOException, InterruptedException {
    while (startOnce() != FaultProgram.DONE) {
      assertThat("starts: " + ends + "\n" + printed(), ends.size() < MOST_STARTS);
    }
    Result result = Result.of(pipelines, seed, Ledger.read(directory));
    for (String fault : faults.stream().map(Fault::name).distinct().toList()) {
      FaultTable.add(fault, happened(fault), recovery(fault), result);
    }
    long otherwise = CallRules.readOtherwise(calls());
    if (otherwise > 0) {
      FaultTable.add(READ_OTHERWISE, otherwise, 0, result);
    }
    assertThat(result.toString(), result.isExact());
    for (Map.Entry<String, Integer> scheduled : timesByName().entrySet()) {
      assertThat(
          scheduled.getKey() + " in " + events(),
          happened(scheduled.getKey()),
          is((long) scheduled.getValue()));
    }
    assertThat(CallRules.violations(calls(), killed()), empty());
    assertThat(Files.readString(directory.resolve(FaultProgram.LEFT)), is(""));
    return this;
  }

  private Map<String, Integer> timesByName() {
    return faults.stream()
        .collect(Collectors.toMap(Fault::name, Fault::times, Integer::sum, TreeMap::new));
  }

  private Set<Long> killed() {
    return events().stream()
        .filter(event -> event.kind().equals(EventLog.KILLED))
        .map(event -> Long.parseLong(event.details().get(0)))
        .collect(Collectors.toSet());
  }

  /** Makes the directory ready for the first start. */
  void prepare() throws IOException {
    Files.createDirectories(directory.resolve(FaultProgram.LOCAL));
    // All that Spark wants to find in its home to start executors: see LocalCluster.
    Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
    Files.write(
        directory.resolve(FaultPoints.SCHEDULE), faults.stream().map(Fault::encode).toList());
  }

  /** Starts the program and waits for its end. */
  int startOnce() throws IOException, InterruptedException {
    try (ForkedProgram.Running running = program().start(log(ends.size()), arguments())) {
      if (second != null && secondEnd < 0) {
        startSecond(running, second);
      }
      int end = running.awaitExit();
      ends.add(end);
      if (end == FaultProgram.FAILED) {
        failures.add(Files.readString(directory.resolve(FaultProgram.FAILURE)));
      } else if (end != FaultProgram.DONE && end != FaultProgram.CANCELLED) {
        assertThat(running.printed(), end, is(KILLED));
      }
      return end;
    }
  }

  private void startSecond(ForkedProgram.Running first, String fault)
      throws IOException, InterruptedException {
    Await.until(fault, () -> happened(fault) > 0 || !first.isAlive(), this::events);
    assertThat(first.printed(), first.isAlive());
    List<String> arguments = arguments();
    // It needs no executors to be refused.
    arguments.add("spark.master=local[1]");
    try (ForkedProgram.Running running = program().start(directory.resolve("log-second"), arguments)) {
      secondEnd = running.awaitExit();
      if (secondEnd == FaultProgram.FAILED) {
        failures.add(Files.readString(directory.resolve(FaultProgram.FAILURE)));
      }
    }
    Files.createFile(directory.resolve(FaultPoints.GO_ON));
  }

  private List<String> arguments() {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                directory.toString(),
                pipelines.stream().map(SeededPipeline::name).collect(Collectors.joining(",")),
                Long.toString(seed),
                Integer.toString(executors)));
    arguments.addAll(options);
    return arguments;
  }

  private static ForkedProgram program() {
    return new ForkedProgram(FaultProgram.class, "1g", MOST_MINUTES)
        // What makes a JVM of a few seconds fast.
        .with("-XX:+UseSerialGC")
        .with("-XX:TieredStopAtLevel=1");
  }

  private Path log(int start) {
    return directory.resolve("log-" + start);
  }

  private String printed() throws IOException {
    return Files.readString(log(ends.size() - 1));
  }
}
