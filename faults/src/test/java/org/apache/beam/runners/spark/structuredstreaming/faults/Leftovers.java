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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;

/** Counts, in the executors that live, what a pipeline that has ended should have left none of. */
final class Leftovers {
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final int TASKS_EACH = 4;

  /** An executor has one of these, whatever number of pipelines it has run. */
  private static final Set<String> OF_THE_JVM =
      Set.of("beam-dofn-sweeper", "beam-splittable-dofn-clock");

  private Leftovers() {}

  /** Waits until nothing is left, or that takes too long: then says what there is. */
  static String await(Path directory) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(SparkContext.getOrCreate());
    String connections = directory.resolve(LoggedReader.CONNECTIONS).toString();
    long end = System.nanoTime() + LIMIT_NANOS;
    while (true) {
      String left = String.join("\n", new TreeSet<>(count(context, connections)));
      if (left.isEmpty() || System.nanoTime() > end) {
        return left;
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private static List<String> count(JavaSparkContext context, String connections) {
    int executors = Math.max(1, context.sc().statusTracker().getExecutorInfos().length - 1);
    List<String> all = new ArrayList<>();
    for (int task = 0; task < executors * TASKS_EACH; task++) {
      all.add(connections);
    }
    return context.parallelize(all, all.size()).flatMap(path -> inThisJvm(path).iterator()).collect();
  }

  private static List<String> inThisJvm(String connections) {
    List<String> left = new ArrayList<>();
    String process = "process " + ProcessHandle.current().pid() + ": ";
    if (LoggedReader.OPEN.get() > 0) {
      left.add(process + LoggedReader.OPEN.get() + " open readers");
    }
    Map<String, Long> threads =
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith(LoggedReader.THREAD) || name.startsWith("beam-"))
            .collect(Collectors.groupingBy(name -> name, Collectors.counting()));
    threads.forEach(
        (name, count) -> {
          if (count > (OF_THE_JVM.contains(name) ? 1 : 0)) {
            left.add(process + count + " threads " + name);
          }
        });
    openFiles(connections).forEach(file -> left.add(process + "open file " + file));
    return left;
  }

  /** The open files of this process below a directory, where the system tells. */
  private static List<String> openFiles(String directory) {
    Path descriptors = Path.of("/proc/self/fd");
    if (!Files.isDirectory(descriptors)) {
      return List.of();
    }
    List<String> files = new ArrayList<>();
    try (Stream<Path> listed = Files.list(descriptors)) {
      listed.map(Leftovers::target).filter(file -> file.startsWith(directory)).forEach(files::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (NoSuchFileException e) {
      // Closed since it was listed.
      return "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
