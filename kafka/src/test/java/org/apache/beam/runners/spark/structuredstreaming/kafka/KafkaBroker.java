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
package org.apache.beam.runners.spark.structuredstreaming.kafka;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.Uuid;

/**
 * A Kafka broker in a process of its own, which is its own controller, on a free port of this
 * machine. It can be stopped or killed, and started again with the same port and data.
 *
 * <p>Its class path has another Scala than this project's, so it comes from a file that the build has
 * made: the system property {@code kafka.broker.classPath} names it.
 */
public final class KafkaBroker implements AutoCloseable {
  private static final String CLASS_PATH = "kafka.broker.classPath";
  private static final long START_SECONDS = 90;
  private static final long STOP_SECONDS = 60;
  private static final int ASK_MILLIS = 2_000;

  private final Path directory;
  private final int port;
  private final Thread atExit = new Thread(this::destroy, "Kafka broker at exit");

  private Process process;

  private KafkaBroker(Path directory, int port) {
    this.directory = directory;
    this.port = port;
  }

  /**
   * Starts a broker without topics and waits until it answers.
   *
   * @param directory for its data, its settings and what it prints; made if it is not there
   */
  public static KafkaBroker start(Path directory) throws IOException, InterruptedException {
    Files.createDirectories(directory);
    int port = freePort();
    KafkaBroker broker = new KafkaBroker(directory, port);
    Files.writeString(broker.settings(), settings(directory, port, freePort()));
    broker.format();
    Runtime.getRuntime().addShutdownHook(broker.atExit);
    broker.startAgain();
    return broker;
  }

  /** What clients connect to. */
  public String servers() {
    return "localhost:" + port;
  }

  /** A client for the administration of the broker. */
  public Admin admin() {
    return Admin.create(
        Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, servers(),
            AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ASK_MILLIS));
  }

  /** Starts the broker that was stopped or killed, and waits until it answers. */
  public void startAgain() throws IOException {
    if (process != null && process.isAlive()) {
      throw new IllegalStateException("The broker on port " + port + " is running.");
    }
    process = launch("kafka.Kafka", settings().toString());
    try (Admin admin = admin()) {
      Await.until("an answer of the broker", START_SECONDS, () -> answers(admin), this::printed);
    }
  }

  /** Stops the broker as its operator does, and waits for its end. */
  public void stop() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("The broker does not stop: " + printed());
    }
  }

  /** Kills the broker, as SIGKILL does, and waits until it is dead. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    destroy();
    process.onExit().join();
    Runtime.getRuntime().removeShutdownHook(atExit);
  }

  private void destroy() {
    if (process != null) {
      process.destroyForcibly();
    }
  }

  private boolean answers(Admin admin) {
    if (!process.isAlive()) {
      throw new IllegalStateException("The broker has ended: " + printed());
    }
    try {
      return !admin.describeCluster().nodes().get(ASK_MILLIS, TimeUnit.MILLISECONDS).isEmpty();
    } catch (TimeoutException | ExecutionException e) {
      // It does not answer yet.
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while the broker starts", e);
    }
  }

  private void format() throws IOException, InterruptedException {
    Process format =
        launch(
            "kafka.tools.StorageTool",
            "format",
            "--cluster-id",
            Uuid.randomUuid().toString(),
            "--config",
            settings().toString());
    boolean ended = format.waitFor(START_SECONDS, TimeUnit.SECONDS);
    if (!ended || format.exitValue() != 0) {
      format.destroyForcibly();
      throw new IllegalStateException("The folder of the broker is not formatted: " + printed());
    }
  }

  private Process launch(String main, String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath(),
                main));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
        .start();
  }

  private static String classPath() throws IOException {
    String file = System.getProperty(CLASS_PATH);
    if (file == null || !new File(file).isFile()) {
      throw new IllegalStateException(
          "The system property " + CLASS_PATH + " is " + file + ", and not a file with the class path"
              + " of a broker. The build of the module kafka/broker makes one.");
    }
    return Files.readString(Path.of(file)).strip();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static String settings(Path directory, int port, int controllerPort) {
    return String.join(
        "\n",
        "process.roles=broker,controller",
        "node.id=1",
        "controller.quorum.voters=1@localhost:" + controllerPort,
        "controller.listener.names=CONTROLLER",
        "listeners=PLAINTEXT://localhost:" + port + ",CONTROLLER://localhost:" + controllerPort,
        "advertised.listeners=PLAINTEXT://localhost:" + port,
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs=" + directory.resolve("data"),
        "auto.create.topics.enable=false",
        // Tests write records with the timestamps of other years.
        "log.retention.ms=-1",
        // One broker, and so no replicas; few partitions, for they take time to open.
        "offsets.topic.num.partitions=2",
        "offsets.topic.replication.factor=1",
        "transaction.state.log.num.partitions=2",
        "transaction.state.log.replication.factor=1",
        "transaction.state.log.min.isr=1",
        "group.initial.rebalance.delay.ms=0",
        // A transaction left behind by a process that died is aborted this soon.
        "transaction.abort.timed.out.transaction.cleanup.interval.ms=1000",
        "num.network.threads=2",
        "num.io.threads=4",
        "");
  }

  private Path settings() {
    return directory.resolve("server.properties");
  }

  private Path log() {
    return directory.resolve("broker.log");
  }

  private String printed() {
    try {
      return Files.readString(log());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
