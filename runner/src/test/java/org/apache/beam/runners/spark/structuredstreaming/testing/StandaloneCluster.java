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
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.network.util.JavaUtils;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A standalone master and its workers, each a process of its own on an address of its own of this
 * machine, so that Spark takes them for several hosts. To be registered before the {@link #session} that
 * runs on it.
 */
public final class StandaloneCluster implements BeforeAllCallback, AfterAllCallback {
  private static final String MASTER_HOST = "127.0.0.1";

  private final int workers;
  private final int coresOfWorker;
  private final int port = freePort();
  private final List<Process> processes = new ArrayList<>();
  private Path directory;

  private StandaloneCluster(int workers, int coresOfWorker) {
    this.workers = workers;
    this.coresOfWorker = coresOfWorker;
  }

  /** A cluster of at most 9 workers that has not been started. */
  public static StandaloneCluster of(int workers, int coresOfWorker) {
    return new StandaloneCluster(workers, coresOfWorker);
  }

  /** What a driver in a process of its own needs to be set to run on the cluster. */
  public Map<String, String> settings() {
    return Map.of(
        "spark.master", master(),
        "spark.driver.host", MASTER_HOST,
        "spark.executor.cores", Integer.toString(coresOfWorker),
        "spark.executor.extraClassPath", LocalCluster.classPath());
  }

  private String master() {
    return "spark://" + MASTER_HOST + ":" + port;
  }

  /** A session on the cluster, whose executors are as large as its workers. */
  public TestSpark session() {
    return LocalCluster.onExecutors(master())
        .with("spark.driver.host", MASTER_HOST)
        .with("spark.executor.cores", Integer.toString(coresOfWorker));
  }

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    directory = Files.createTempDirectory("standalone-cluster-");
    start("org.apache.spark.deploy.master.Master", "master",
        List.of("--host", MASTER_HOST, "--port", Integer.toString(port), "--webui-port", "0"));
    for (int worker = 0; worker < workers; worker++) {
      start("org.apache.spark.deploy.worker.Worker", "worker-" + worker,
          List.of(
              "--host", "127.0.0." + (worker + 2),
              "--cores", Integer.toString(coresOfWorker),
              "--memory", "1g",
              "--webui-port", "0",
              "--work-dir", directory.resolve("work-" + worker).toString(),
              "spark://" + MASTER_HOST + ":" + port));
    }
  }

  private void start(String program, String name, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx256m");
    command.addAll(LocalCluster.moduleOptions());
    command.addAll(List.of("-cp", LocalCluster.classPath(), program));
    command.addAll(arguments);
    processes.add(
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(name + ".log").toFile())
            .start());
  }

  @Override
  public void afterAll(ExtensionContext context) throws IOException {
    for (Process process : processes) {
      // A worker does not live to end its executors, which the session has ended before.
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      Await.until("the end of " + process.pid(), () -> !process.isAlive(), () -> process);
    }
    JavaUtils.deleteRecursively(directory.toFile());
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
