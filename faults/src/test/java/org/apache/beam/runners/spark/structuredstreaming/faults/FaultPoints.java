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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;

/**
 * The points at which faults of a schedule happen. Whatever the tests put into Spark and into the
 * pipeline says, in every process, which point it passes. A fault that happens is claimed by a file
 * first, so it happens as often as the schedule says, over all processes and starts.
 */
final class FaultPoints {
  /** Property of the system, in the driver and in executors: the directory of the run. */
  static final String DIRECTORY = "faults.directory";

  /** Property of the system, in the driver only. */
  static final String DRIVER = "faults.driver";

  static final String SCHEDULE = "schedule";
  static final String EVENTS = "events";
  static final String CANCEL = "cancel";

  /** Where an {@link FaultAction#OUTLIVE} ends. */
  static final String RELEASED = "released";

  /** Where an {@link FaultAction#AWAIT_TEST} ends. */
  static final String GO_ON = "go-on";

  /** Where Spark tells tasks and jobs the epoch they are of. */
  static final String EPOCH_PROPERTY = "streaming.sql.batchId";

  private static final String CLAIMS = "claims";
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(3);

  private FaultPoints() {}

  /** Read once in a process, when its first point is passed. */
  private static final class Schedule {
    private static final List<Fault> FAULTS = read();

    private static List<Fault> read() {
      try {
        return Files.readAllLines(directory().resolve(SCHEDULE)).stream().map(Fault::decode).toList();
      } catch (IOException e) {
        throw new ExceptionInInitializerError(e);
      }
    }
  }

  static Path directory() {
    return Path.of(System.getProperty(DIRECTORY));
  }

  static EventLog events() {
    return new EventLog(directory().resolve(EVENTS));
  }

  /** The epoch of the task on this thread, -1 if there is none. */
  static long epoch() {
    TaskContext task = TaskContext.get();
    String epoch = task == null ? null : task.getLocalProperty(EPOCH_PROPERTY);
    return epoch == null ? -1 : Long.parseLong(epoch);
  }

  /** The epoch and the partition of the task on this thread, as points name them. */
  static String task() {
    return "epoch=" + epoch() + " partition=" + TaskContext.getPartitionId();
  }

  /** Passes a point, where a fault may happen. */
  static void pass(String point) throws IOException {
    Fault fault = claim(point);
    if (fault != null) {
      act(fault, point);
    }
  }

  /** Passes a point at which the caller brings the fault about itself. */
  static boolean isTold(String point) throws IOException {
    Fault fault = claim(point);
    return fault != null && fault.action() == FaultAction.TOLD;
  }

  private static Fault claim(String point) throws IOException {
    List<Fault> faults = Schedule.FAULTS;
    for (int i = 0; i < faults.size(); i++) {
      Fault fault = faults.get(i);
      if (fault.isAt(point) && claim(i, fault.times())) {
        events().add(EventLog.FAULT, fault.name(), point, ProcessHandle.current().pid());
        return fault;
      }
    }
    return null;
  }

  private static boolean claim(int fault, int times) throws IOException {
    Path claims = Files.createDirectories(directory().resolve(CLAIMS));
    for (int time = 0; time < times; time++) {
      if (claims.resolve(fault + "-" + time).toFile().createNewFile()) {
        return true;
      }
    }
    return false;
  }

  private static void act(Fault fault, String point) throws IOException {
    switch (fault.action()) {
      case KILL_EXECUTOR -> killExecutors(1);
      case KILL_TWO_EXECUTORS -> killExecutors(2);
      case KILL_ALL_EXECUTORS -> killExecutors(Integer.MAX_VALUE);
      case KILL_DRIVER -> kill(isDriver() ? ProcessHandle.current() : parent());
      case FAIL -> throw new IOException("the fault '" + fault.name() + "' at " + point);
      case HANG -> {
        Files.createFile(directory().resolve(CANCEL));
        awaitInterruption();
      }
      case SLOW -> awaitInterruption();
      case AWAIT_TEST -> stay(() -> Files.exists(directory().resolve(GO_ON)));
      case OUTLIVE -> outlive();
      case RELEASE -> Files.createFile(directory().resolve(RELEASED));
      case LOSE_SHUFFLE -> loseShuffle();
      default -> throw new IllegalStateException(point + " is passed by one that does not ask: " + fault);
    }
  }

  private static boolean isDriver() {
    return Boolean.getBoolean(DRIVER);
  }

  private static ProcessHandle parent() {
    return ProcessHandle.current().parent().orElseThrow();
  }

  /** The executors of this application: the JVMs that its driver has started. */
  private static List<ProcessHandle> executors() {
    ProcessHandle driver = isDriver() ? ProcessHandle.current() : parent();
    return driver.children().filter(process -> process.info().command().orElse("").endsWith("java")).toList();
  }

  private static void killExecutors(int count) throws IOException {
    long self = ProcessHandle.current().pid();
    int others = isDriver() ? count : count - 1;
    for (ProcessHandle other :
        executors().stream().filter(executor -> executor.pid() != self).limit(others).toList()) {
      kill(other);
    }
    if (!isDriver()) {
      kill(ProcessHandle.current());
    }
  }

  private static void kill(ProcessHandle process) throws IOException {
    events().add(EventLog.KILLED, process.pid());
    if (process.pid() == ProcessHandle.current().pid()) {
      // The JDK does not let a process do this to itself.
      new ProcessBuilder("kill", "-9", Long.toString(process.pid())).start();
      stay(() -> false);
    }
    process.destroyForcibly();
  }

  private static void awaitInterruption() throws IOException {
    stay(() -> Thread.currentThread().isInterrupted());
    throw new IOException("interrupted while it hung");
  }

  private static void outlive() {
    stay(() -> Files.exists(directory().resolve(RELEASED)));
  }

  /** Returns when it is over, whatever the thread is interrupted by; fails if that takes too long. */
  static void stay(BooleanSupplier over) {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (!over.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("nobody has ended this wait");
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  /** Deletes what the shuffles of all executors have on disk. */
  private static void loseShuffle() throws IOException {
    try (Stream<Path> files = Files.walk(directory().resolve(FaultProgram.LOCAL))) {
      for (Path file : files.filter(FaultPoints::isOfShuffle).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (NoSuchFileException | UncheckedIOException e) {
      // Spark has removed a directory meanwhile; what it removes is lost as well.
      events().add("note", e.toString());
    }
  }

  private static boolean isOfShuffle(Path file) {
    return file.getFileName().toString().matches("shuffle_.*\\.(data|index)");
  }
}
