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
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.joda.time.Duration;

/**
 * A driver in a JVM of its own: runs seeded pipelines as one, with the faults of the schedule in its
 * directory, on executors in processes of their own. Ends with {@link #DONE}, {@link #FAILED} or {@link
 * #CANCELLED}, if it is not killed.
 */
public final class FaultProgram {
  static final int DONE = 0;
  static final int FAILED = 3;
  static final int CANCELLED = 4;

  static final String CHECKPOINT = "checkpoint";
  static final String LOCAL = "local";
  static final String FAILURE = "failure";
  static final String LEFT = "left";

  private static final Duration LOOK = Duration.millis(100);

  private FaultProgram() {}

  /**
   * Runs the program.
   *
   * @param arguments the directory, the names of the pipelines, the seed, the number of executors, and
   *     further options of the runner and settings of Spark's ({@code spark...=...})
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path directory = Path.of(arguments[0]);
    List<String> more = Arrays.asList(arguments).subList(4, arguments.length);
    settings(directory, Integer.parseInt(arguments[3]))
        .forEach((name, value) -> System.setProperty(name, value));
    more.stream()
        .filter(option -> option.startsWith("spark."))
        .forEach(
            option ->
                System.setProperty(
                    option.substring(0, option.indexOf('=')),
                    option.substring(option.indexOf('=') + 1)));
    Pipeline pipeline = Pipeline.create(options(directory, more));
    for (String name : arguments[1].split(",")) {
      SeededPipeline.valueOf(name).addTo(pipeline, Long.parseLong(arguments[2]));
    }
    int end;
    try {
      end = await(pipeline.run(), directory.resolve(FaultPoints.CANCEL));
      Files.writeString(directory.resolve(LEFT), Leftovers.await(directory));
    } catch (PipelineExecutionException | IllegalStateException | IllegalArgumentException e) {
      StringWriter text = new StringWriter();
      e.printStackTrace(new PrintWriter(text));
      Files.writeString(directory.resolve(FAILURE), text.toString());
      end = FAILED;
    }
    // Spark's own end is not of interest, and takes its time.
    Runtime.getRuntime().exit(end);
  }

  private static int await(PipelineResult result, Path cancel) throws IOException {
    while (true) {
      State state = result.waitUntilFinish(LOOK);
      if (state == State.DONE) {
        return DONE;
      }
      if (Files.deleteIfExists(cancel)) {
        result.cancel();
        return CANCELLED;
      }
    }
  }

  private static Map<String, String> settings(Path directory, int executors) {
    Map<String, String> settings = new TreeMap<>();
    settings.put(FaultPoints.DIRECTORY, directory.toString());
    settings.put(FaultPoints.DRIVER, "true");
    settings.put("spark.master", "local-cluster[" + executors + ",1,1024]");
    settings.put("spark.executor.memory", "1g");
    settings.put(
        "spark.executor.extraJavaOptions",
        "-D" + FaultPoints.DIRECTORY + "=" + directory
            + " -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
    settings.put("spark.executorEnv.SPARK_SCALA_VERSION", "2.12");
    // An executor that is killed is no fault of its node: Spark is to replace more than it would.
    settings.put("spark.deploy.maxExecutorRetries", "50");
    settings.put("spark.local.dir", directory.resolve(LOCAL).toString());
    settings.put(
        "spark.sql.streaming.checkpointFileManagerClass", FaultFileManager.class.getName());
    settings.put("spark.shuffle.manager", FaultShuffleManager.class.getName());
    settings.put("spark.extraListeners", FaultListener.class.getName());
    return settings;
  }

  private static SparkStructuredStreamingPipelineOptions options(Path directory, List<String> more) {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--runner=SparkStructuredStreamingRunner",
                "--streaming=true",
                "--jobName=faults",
                "--checkpointDir=" + directory.resolve(CHECKPOINT),
                "--maxBatchDurationMillis=60000",
                "--maxIdlePauseMillis=20",
                "--restartBackoffMillis=1",
                "--parallelism=2",
                // The session outlives the pipeline, to be asked what is left.
                "--testMode=true"));
    for (String option : more) {
      if (option.startsWith("--")) {
        String name = option.substring(0, option.indexOf('=') + 1);
        options.removeIf(set -> set.startsWith(name));
        options.add(option);
      }
    }
    return PipelineOptionsFactory.fromArgs(options.toArray(String[]::new))
        .as(SparkStructuredStreamingPipelineOptions.class);
  }
}
