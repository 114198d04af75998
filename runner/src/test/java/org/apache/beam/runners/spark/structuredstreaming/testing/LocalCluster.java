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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.SparkStatusTracker;

/**
 * Spark with executors in processes of their own, from Maven's artifacts alone. Use it as
 *
 * <pre>{@code
 * @RegisterExtension static final TestSpark SPARK = LocalCluster.of(2);
 * }</pre>
 *
 * <p>How it works: Spark's worker starts executors by {@code SPARK_HOME}, of which it wants no more
 * than a folder {@code jars}; that may be empty, because {@code spark.executor.extraClassPath} is the
 * class path of this JVM. {@code SPARK_HOME} must be in the environment, so a module that uses this
 * sets it for surefire as this module's pom does. Work folders with the output of executors are
 * {@code SPARK_HOME/work/app-.../<executor>/stderr}. Spark itself gives executors the {@code
 * --add-opens} they need.
 *
 * <p>Static fields are those of each process: what tests count or remember in executors goes by files,
 * as {@link Recorder} and {@link OneTimeFaults} do it. Checkpoints must be in a directory that
 * processes share, so {@code --checkpointDir} is always to be set.
 */
public final class LocalCluster {
  private static final String SPARK_HOME = "SPARK_HOME";

  private LocalCluster() {}

  /** A session with this many executors, of one core and 1 GB each. */
  public static TestSpark of(int executors) {
    return onExecutors("local-cluster[" + executors + ",1,1024]");
  }

  /** A session on a master whose executors are processes on this machine, of 1 GB each. */
  static TestSpark onExecutors(String master) {
    String home = System.getenv(SPARK_HOME);
    if (home == null) {
      throw new IllegalStateException(
          SPARK_HOME + " is not set. Set it to any folder, as the environmentVariables of"
              + " maven-surefire-plugin in this module's pom do.");
    }
    try {
      Files.createDirectories(Path.of(home, "jars"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return TestSpark.on(master)
        .with("spark.executor.memory", "1g")
        .with("spark.executor.extraClassPath", classPath())
        .with("spark.executorEnv.SPARK_SCALA_VERSION", "2.12")
        // An executor killed by a test is no fault of the node: Spark is to replace it for ever.
        .with("spark.deploy.maxExecutorRetries", "-1")
        .with("spark.task.maxFailures", "4");
  }

  /** The class path of the tests: Surefire's own property has it when its launcher hides it. */
  static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  /** The modules that this JVM was started with opened, for one that is to be like it. */
  static List<String> moduleOptions() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> argument.startsWith("--add-opens"))
        .toList();
  }

  /**
   * The processes of executors that live now: the JVMs below this one, which the class path makes too
   * long for the system to tell their main class.
   */
  public static List<ProcessHandle> executors() {
    return ProcessHandle.current()
        .descendants()
        .filter(process -> process.info().command().orElse("").endsWith("java"))
        .toList();
  }

  /** Waits until this many executors have registered. */
  public static void awaitExecutors(TestSpark spark, int count) {
    SparkStatusTracker tracker = spark.session().sparkContext().statusTracker();
    // The driver counts as one.
    Await.until(
        count + " executors",
        () -> tracker.getExecutorInfos().length > count,
        LocalCluster::executors);
  }

  /** Kills an executor, as SIGKILL does, and waits until it is dead. */
  public static void kill(long process) {
    ProcessHandle victim =
        executors().stream()
            .filter(executor -> executor.pid() == process)
            .findAny()
            .orElseThrow();
    victim.destroyForcibly();
    Await.until("the death of " + process, () -> !victim.isAlive(), () -> victim);
  }
}
