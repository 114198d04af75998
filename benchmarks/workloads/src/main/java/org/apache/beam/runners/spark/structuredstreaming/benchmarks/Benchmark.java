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
package org.apache.beam.runners.spark.structuredstreaming.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.options.PipelineOptionsFactory;

/**
 * Runs a workload once and prints one line about it: {@code RESULT} and a JSON object. It ends the JVM,
 * as some runners go on when all is done.
 */
public final class Benchmark {
  private static final long POLL_MILLIS = 5;
  private static final long LINGER_MILLIS = 1000;

  private final BenchmarkOptions options;
  private final Execution execution;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  Benchmark(BenchmarkOptions options, Execution execution) {
    this.options = options;
    this.execution = execution;
  }

  /** A way to run a workload. */
  @FunctionalInterface
  public interface Execution {
    /** What comes before the time begins. */
    Run prepare(BenchmarkOptions options) throws Exception;
  }

  /** What is timed: it returns when the workload has ended, if it ever does. */
  @FunctionalInterface
  public interface Run {
    /** Runs the workload, once. */
    void toEnd() throws Exception;
  }

  /** Runs the workload that the arguments name, with the runner and the options that they name. */
  public static void main(String[] args) {
    main(args, Benchmark::pipeline);
  }

  /** Runs what the arguments name in another way than as a Beam pipeline. */
  public static void main(String[] args, Execution execution) {
    int exitCode = 1;
    try {
      PipelineOptionsFactory.register(BenchmarkOptions.class);
      // Validation would ask for a runner, which not every execution has.
      BenchmarkOptions options = PipelineOptionsFactory.fromArgs(args).as(BenchmarkOptions.class);
      Measurement measurement = new Benchmark(options, execution).run();
      System.out.println("RESULT " + measurement.toJson());
      exitCode = 0;
    } catch (Throwable e) {
      e.printStackTrace(System.err);
    } finally {
      System.out.flush();
      System.err.flush();
      Runtime.getRuntime().halt(exitCode);
    }
  }

  /** What was measured; a run that is not right has no time. */
  record Measurement(
      String workload,
      long records,
      String outcome,
      double seconds,
      double cpuSeconds,
      Totals totals,
      HeapWatch heap) {
    String toJson() {
      return String.format(
          Locale.ROOT,
          "{\"workload\": \"%s\", \"records\": %d, \"outcome\": \"%s\", \"seconds\": %.3f,"
              + " \"cpuSeconds\": %.2f, \"count\": %d, \"checksum\": %d, \"peakHeapMb\": %d,"
              + " \"peakHeapAfterCollectionMb\": %d}",
          workload,
          records,
          outcome,
          seconds,
          cpuSeconds,
          totals.count(),
          totals.checksum(),
          heap.peakMegabytes(),
          heap.peakAfterCollectionMegabytes());
    }
  }

  /** Runs the pipeline until it has the right results, has ended, or takes too long. */
  Measurement run() throws Exception {
    long records = options.getRecords();
    Totals expected = Workloads.named(options.getWorkload()).expected(records);
    Run run = execution.prepare(options);
    Results.reset();
    HeapWatch heap = HeapWatch.start();
    double cpuBefore = cpuSeconds();
    long start = System.nanoTime();
    Thread thread = new Thread(() -> runToEnd(run), "benchmark");
    thread.setDaemon(true);
    thread.start();
    boolean batch = options.getWorkload().startsWith("batch-");
    long limit = start + TimeUnit.SECONDS.toNanos(options.getLimitSeconds());
    boolean atEnd = false;
    // A stream is done with its last result, as it might go on for ever; a batch when it has ended.
    while (!atEnd && System.nanoTime() < limit && (batch || !Results.totals().equals(expected))) {
      atEnd = ended.await(POLL_MILLIS, TimeUnit.MILLISECONDS);
    }
    double seconds = (double) (System.nanoTime() - start) / 1e9;
    double cpu = cpuSeconds() - cpuBefore;
    if (!atEnd && Results.totals().equals(expected)) {
      // Results that come twice come soon.
      atEnd = ended.await(LINGER_MILLIS, TimeUnit.MILLISECONDS);
    }
    Totals totals = Results.totals();
    String outcome;
    if (failure.get() != null) {
      failure.get().printStackTrace(System.err);
      outcome = "failed";
    } else if (totals.equals(expected) && (atEnd || !batch)) {
      outcome = "right";
    } else {
      System.err.println("Expected: " + expected + ", got: " + totals);
      outcome = atEnd || totals.count() > expected.count() ? "wrong" : "unfinished";
    }
    return new Measurement(options.getWorkload(), records, outcome, seconds, cpu, totals, heap);
  }

  static Run pipeline(BenchmarkOptions options) {
    Pipeline pipeline = Pipeline.create(options);
    Workloads.named(options.getWorkload()).build(pipeline, options.getRecords());
    return () -> pipeline.run().waitUntilFinish();
  }

  private void runToEnd(Run run) {
    try {
      run.toEnd();
    } catch (Throwable e) {
      failure.set(e);
    } finally {
      ended.countDown();
    }
  }

  private static double cpuSeconds() {
    return (double)
            ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime()
        / 1e9;
  }
}
