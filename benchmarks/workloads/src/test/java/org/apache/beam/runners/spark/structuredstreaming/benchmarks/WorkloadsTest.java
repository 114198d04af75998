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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;

import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every workload, with few records, has on this runner the results that plain code has. */
class WorkloadsTest {
  static Iterable<String> names() {
    return Workloads.names();
  }

  @ParameterizedTest
  @MethodSource("names")
  void resultsAreRight(String name) throws Exception {
    PipelineOptionsFactory.register(BenchmarkOptions.class);
    Benchmark.Measurement measurement =
        new Benchmark(
                PipelineOptionsFactory.fromArgs(
                        "--runner=SparkStructuredStreamingRunner",
                        "--sparkMaster=local[2]",
                        "--testMode=true",
                        "--jobName=" + name,
                        "--workload=" + name,
                        "--records=20000")
                    .withValidation()
                    .as(BenchmarkOptions.class),
                Benchmark::pipeline)
            .run();
    assertThat(measurement.toJson(), measurement.outcome(), is("right"));
    assertThat("a workload without results shows nothing", measurement.totals().count(), greaterThan(0L));
  }
}
