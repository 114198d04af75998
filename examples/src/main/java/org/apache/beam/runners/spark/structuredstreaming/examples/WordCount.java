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

import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.options.Default;
import org.apache.beam.sdk.options.Description;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.TypeDescriptors;

/** Counts the words of text files: a bounded pipeline, which runs as a batch. */
public final class WordCount {
  private WordCount() {}

  /** Options of the example, beside those of the runner. */
  public interface Options extends PipelineOptions {
    @Description("Text file to read, or a glob; files compressed as their names say are understood.")
    @Default.String("LICENSE")
    String getText();

    void setText(String text);

    @Description("Prefix of the files to write: a line for each word, 'word: count'.")
    @Default.String("target/wordcount/counts")
    String getCounts();

    void setCounts(String counts);
  }

  /** Runs the example to its end; see {@link Options} for its arguments. */
  public static void main(String[] args) {
    PipelineResult.State state = run(args);
    System.out.println(state);
  }

  static PipelineResult.State run(String... args) {
    return pipeline(ExampleArguments.options(Options.class, args)).run().waitUntilFinish();
  }

  /** The pipeline, not yet run. */
  static Pipeline pipeline(Options options) {
    Pipeline pipeline = Pipeline.create(options);
    pipeline
        .apply("ReadLines", TextIO.read().from(options.getText()))
        .apply("SplitIntoWords", ParDo.of(new SplitIntoWords()))
        .apply("CountWords", Count.perElement())
        .apply(
            "Format",
            MapElements.into(TypeDescriptors.strings())
                .via(count -> count.getKey() + ": " + count.getValue()))
        .apply("WriteCounts", TextIO.write().to(options.getCounts()).withSuffix(".txt"));
    return pipeline;
  }
}
