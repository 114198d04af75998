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
package org.apache.beam.runners.spark.structuredstreaming.comparison;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.stream.Stream;
import org.apache.beam.runners.direct.DirectRunner;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.junit.jupiter.api.io.TempDir;

/** Runs each pipeline on the DirectRunner and on Spark, and compares what its collections held. */
abstract class ComparisonCase {
  private static final Map<String, ComparedPipeline> PIPELINES = ComparedPipelines.all();

  @TempDir Path directory;

  static Stream<String> pipelines() {
    return PIPELINES.keySet().stream();
  }

  /** What the DirectRunner makes of a pipeline: something at any rate. */
  SortedMap<String, List<String>> expected(String name) throws IOException {
    Outcome outcome = new Outcome(directory.resolve("direct"));
    Pipeline pipeline =
        Pipeline.create(
            PipelineOptionsFactory.fromArgs(
                    "--runner=" + DirectRunner.class.getSimpleName(), "--targetParallelism=2")
                .create());
    PIPELINES.get(name).build(pipeline, outcome);
    pipeline.run().waitUntilFinish();
    SortedMap<String, List<String>> expected = outcome.read();
    assertThat(expected.entrySet(), is(not(empty())));
    return expected;
  }

  /** What Spark makes of it. */
  SortedMap<String, List<String>> found(String name, TestSpark spark, boolean streaming)
      throws IOException {
    Outcome outcome = new Outcome(directory.resolve("spark-" + streaming));
    new RestartHarness(
            spark,
            directory.resolve("checkpoint-" + streaming),
            pipeline -> PIPELINES.get(name).build(pipeline, outcome),
            "--parallelism=2",
            "--sourceSplits=2",
            "--streaming=" + streaming,
            "--maxRestarts=0")
        .runToTheEnd();
    return outcome.read();
  }
}
