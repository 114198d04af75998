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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.joda.time.Duration;

/**
 * Counts words in windows of event time while text files are replayed, and writes a file for every
 * window when it closes. It ends when the text does.
 *
 * <p>Kill it at any moment and start it again with the same {@code --checkpointDir} and the same
 * options: when it ends, the files are those of a run that nothing has interrupted.
 */
public final class StreamingWordCount {
  private StreamingWordCount() {}

  /** Runs the example; see {@link StreamingWordCountOptions} for its arguments. */
  public static void main(String[] args) {
    int exitCode = runAndReport(System.err, args);
    if (exitCode != 0) {
      System.exit(exitCode);
    }
  }

  /**
   * Runs the example to its end. What the user can put right, wrong arguments, unfit directories and
   * checkpoints, is said in one line; a pipeline that fails throws.
   *
   * @return 0 for success, 1 for what was said
   */
  static int runAndReport(PrintStream errors, String... args) {
    try {
      run(args);
      return 0;
    } catch (IllegalArgumentException
        | IllegalStateException
        | IOException
        | UncheckedIOException e) {
      errors.println("StreamingWordCount: " + String.valueOf(e.getMessage()).replaceAll("\\s*\\R\\s*", " "));
      return 1;
    }
  }

  /**
   * Runs the example to its end.
   *
   * @return the state the pipeline has ended in
   * @throws IllegalArgumentException if an argument is wrong, an input file is missing or the output
   *     directory cannot be written
   * @throws IllegalStateException if the checkpoint cannot be gone on with
   */
  static PipelineResult.State run(String... args) throws IOException {
    StreamingWordCountOptions options = options(args);
    WindowFiles files = new WindowFiles(options.getOutput());
    String checkpoint = options.as(SparkStructuredStreamingPipelineOptions.class).getCheckpointDir();
    Pipeline pipeline = pipeline(options);
    files.checkWritable();
    if (checkpoint == null) {
      // A run of its own, which continues none: it is not to be mixed with an earlier one.
      files.deleteAll();
    }
    PipelineResult result = pipeline.run();
    if (result instanceof SparkStructuredStreamingPipelineResult running) {
      StopOnShutdown.register(
          running,
          () ->
              System.out.println(
                  checkpoint == null
                      ? "Stopped. With a --checkpointDir it could go on from here."
                      : "Stopped. Start it again with --checkpointDir=" + checkpoint + " to go on."));
    }
    PipelineResult.State state = result.waitUntilFinish();
    if (state == PipelineResult.State.DONE) {
      files.deleteUnfinished();
      System.out.println("Done: " + Counted.of(files.count(), "window") + " in " + files);
    }
    return state;
  }

  private static StreamingWordCountOptions options(String... args) {
    ExampleArguments.checkForm(args);
    StreamingWordCountOptions options =
        ExampleArguments.options(StreamingWordCountOptions.class, args);
    ExampleArguments.checkValues(options);
    return options;
  }

  /** The pipeline, not yet run. */
  static Pipeline pipeline(StreamingWordCountOptions options) {
    Pipeline pipeline = Pipeline.create(options);
    pipeline
        .apply(
            "ReadLines",
            Read.from(
                ReplayedTextSource.of(
                    options.getInput(),
                    ExampleArguments.startTime(options),
                    options.getLineIntervalMillis())))
        .apply("SplitIntoWords", ParDo.of(new SplitIntoWords()))
        .apply(
            "Window",
            Window.into(FixedWindows.of(Duration.standardSeconds(options.getWindowSeconds()))))
        .apply("CountWords", Count.perElement())
        .apply("KeyByWindow", ParDo.of(new KeyByWindow()))
        .apply("GroupByWindow", GroupByKey.create())
        .apply("WriteWindowFile", ParDo.of(new WriteWindowFile(options.getOutput())));
    return pipeline;
  }
}
