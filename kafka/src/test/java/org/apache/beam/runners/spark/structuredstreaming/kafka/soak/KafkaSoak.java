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
package org.apache.beam.runners.spark.structuredstreaming.kafka.soak;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.beam.runners.spark.structuredstreaming.kafka.KafkaBroker;
import org.apache.beam.runners.spark.structuredstreaming.kafka.KafkaTopics;
import org.apache.beam.runners.spark.structuredstreaming.testing.ForkedProgram;

/**
 * Runs a pipeline from Kafka to Kafka for some minutes while its executors, its driver and the broker
 * are killed by chance, and then compares every record and window with what was produced.
 *
 * <p>It ends with code 0 if all of them are exact, else with 1.
 */
public final class KafkaSoak implements AutoCloseable {
  private static final int INPUT_PARTITIONS = 4;
  private static final int OUTPUT_PARTITIONS = 2;
  private static final String SINK_GROUP = "soak-sink";
  private static final long RECOVERY_SECONDS = 240;
  private static final long CATCH_UP_SECONDS = 420;
  private static final long QUIET_SECONDS = 10;
  private static final int WARM_UP_RECORDS = 200;

  private final Path directory;
  private final Random random;
  private final int minutes;
  private final int faultSeconds;
  private final KafkaBroker broker;
  private final KafkaTopics topics;
  private final String input;
  private final String output;
  private final SoakConsumer consumer;
  private final SoakProducer producer;
  private final List<SoakFault> faults = new ArrayList<>();
  private final long startNanos = System.nanoTime();

  private ForkedProgram.Running driver;
  private int driverStarts;

  private KafkaSoak(Path directory, Map<String, String> arguments)
      throws IOException, InterruptedException {
    this.directory = directory;
    this.random = new Random(Long.parseLong(arguments.get("seed")));
    this.minutes = Integer.parseInt(arguments.get("minutes"));
    this.faultSeconds = Integer.parseInt(arguments.get("faultSeconds"));
    broker = KafkaBroker.start(directory.resolve("broker"));
    topics = new KafkaTopics(broker);
    input = topics.create("soak-in", INPUT_PARTITIONS);
    output = topics.create("soak-out", OUTPUT_PARTITIONS);
    consumer = new SoakConsumer(broker.servers(), output, OUTPUT_PARTITIONS);
    producer =
        SoakProducer.start(
            broker.servers(),
            input,
            INPUT_PARTITIONS,
            Integer.parseInt(arguments.get("recordsPerSecond")));
  }

  /**
   * Runs the soak.
   *
   * @param given {@code --minutes} (15), {@code --seed} (of the clock), {@code --recordsPerSecond} (50),
   *     {@code --faultSeconds} (20: the mean time from a recovery to the next fault) and {@code
   *     --directory} (a new one below the working directory's target)
   */
  public static void main(String[] given) throws Exception {
    Map<String, String> arguments =
        new HashMap<>(
            Map.of(
                "minutes", "15",
                "seed", Long.toString(System.currentTimeMillis()),
                "recordsPerSecond", "50",
                "faultSeconds", "20",
                "directory", "target/soak/" + System.currentTimeMillis()));
    for (String argument : given) {
      int end = argument.indexOf('=');
      if (!argument.startsWith("--") || end < 0 || !arguments.containsKey(argument.substring(2, end))) {
        throw new IllegalArgumentException(
            argument + " is no argument of the soak. It knows " + arguments.keySet());
      }
      arguments.put(argument.substring(2, end), argument.substring(end + 1));
    }
    System.out.println("Soak with " + arguments);
    boolean exact;
    try (KafkaSoak soak =
        new KafkaSoak(Path.of(arguments.get("directory")).toAbsolutePath(), arguments)) {
      exact = soak.run();
    }
    System.out.println(exact ? "All records and windows are exact." : "NOT EXACT: see the table.");
    System.exit(exact ? 0 : 1);
  }

  private boolean run() throws IOException, InterruptedException {
    startDriver();
    warmUp();
    SoakFault.Order order = new SoakFault.Order(random);
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes);
    while (true) {
      long pause =
          TimeUnit.MILLISECONDS.toNanos(faultSeconds * 500L + random.nextInt(faultSeconds * 1_000));
      if (System.nanoTime() + pause > end) {
        break;
      }
      pollFor(pause);
      fault(order.next());
    }
    pollFor(Math.max(0, end - System.nanoTime()));
    List<SoakProducer.Sent> sent = producer.finish();
    say("The producer has stopped behind " + sent.size() + " records");
    SoakResults results = new SoakResults(sent, faults);
    boolean complete =
        pollUntil(CATCH_UP_SECONDS, () -> results.isComplete(consumer.counts()));
    say(complete ? "All is counted" : "Not all is counted within " + CATCH_UP_SECONDS + " s");
    // What is doubled may come behind what is not.
    pollFor(TimeUnit.SECONDS.toNanos(QUIET_SECONDS));
    boolean exact = results.check(consumer.counts());
    System.out.println(results.table());
    return exact;
  }

  /** Faults begin once every shard of the sink has written: its first transaction cannot be repeated. */
  private void warmUp() {
    boolean warm =
        pollUntil(
            RECOVERY_SECONDS,
            () ->
                consumer.records() >= WARM_UP_RECORDS
                    && topics.committed(SINK_GROUP, output).size() == OUTPUT_PARTITIONS);
    if (!warm) {
      throw new IllegalStateException("The pipeline does not begin: " + driver.printed());
    }
    say("The pipeline has begun");
  }

  private void fault(SoakFault.Kind kind) throws IOException, InterruptedException {
    long atMillis = System.currentTimeMillis();
    long at = System.nanoTime();
    switch (kind) {
      case EXECUTOR -> killExecutor();
      case DRIVER -> {
        driver.kill();
        startDriver();
      }
      case BROKER -> {
        broker.kill();
        broker.startAgain();
      }
      default -> throw new IllegalStateException("unknown fault " + kind);
    }
    String behind = SoakPipeline.ID + producer.count();
    boolean recovered =
        pollUntil(RECOVERY_SECONDS, () -> consumer.counts().containsKey(behind));
    long recoveredMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - at);
    faults.add(new SoakFault(kind, atMillis, recoveredMillis));
    say(kind + " killed, recovered after " + recoveredMillis + " ms");
    if (!recovered) {
      throw new IllegalStateException(
          "Nothing is counted " + RECOVERY_SECONDS + " s behind the death of the " + kind + ": "
              + driver.printed());
    }
  }

  private void startDriver() throws IOException {
    driverStarts++;
    driver =
        new ForkedProgram(SoakPipeline.class, "768m", minutes + 60L)
            .start(
                directory.resolve("driver-" + driverStarts + ".log"),
                List.of(
                    broker.servers(),
                    input,
                    output,
                    Integer.toString(OUTPUT_PARTITIONS),
                    SINK_GROUP,
                    "--runner=SparkStructuredStreamingRunner",
                    "--useActiveSparkSession=true",
                    "--jobName=soak",
                    "--parallelism=2",
                    "--sourceSplits=2",
                    "--maxRestarts=10",
                    "--checkpointDir=" + directory.resolve("checkpoint")));
  }

  private void killExecutor() {
    boolean found = pollUntil(RECOVERY_SECONDS, () -> !executors().isEmpty());
    if (!found) {
      throw new IllegalStateException("There is no executor to kill: " + driver.printed());
    }
    List<ProcessHandle> executors = executors();
    ProcessHandle victim = executors.get(random.nextInt(executors.size()));
    victim.destroyForcibly();
    victim.onExit().join();
  }

  /** JVMs below a JVM below this one: of the processes that the soak starts only the driver has any. */
  private static List<ProcessHandle> executors() {
    return ProcessHandle.current()
        .children()
        .flatMap(ProcessHandle::descendants)
        .filter(process -> process.info().command().orElse("").endsWith("java"))
        .toList();
  }

  private void pollFor(long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() < end) {
      poll();
    }
  }

  private boolean pollUntil(long seconds, BooleanSupplier condition) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        return false;
      }
      poll();
    }
    return true;
  }

  private void poll() {
    consumer.poll();
    if (!driver.isAlive()) {
      throw new IllegalStateException("The driver has ended by itself: " + driver.printed());
    }
  }

  private void say(String what) {
    System.out.printf(
        "%6.1f s  %s%n", (System.nanoTime() - startNanos) / (double) TimeUnit.SECONDS.toNanos(1), what);
  }

  @Override
  public void close() {
    producer.close();
    consumer.close();
    topics.close();
    if (driver != null) {
      driver.close();
    }
    broker.close();
  }
}
